//! Files for readers that take a path.

use std::path::PathBuf;
use std::sync::LazyLock;

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    // In memory where there is such a place: a target reads thousands of files a second.
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = base.join(format!("relatum-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder
});

/// Writes a file, in place of the one that had the name before.
pub fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.join(name);
    std::fs::write(&path, bytes).expect("a scratch file");
    path
}

/// A name in the scratch folder.
#[allow(dead_code, reason = "only some targets make folders")]
pub fn path(name: &str) -> PathBuf {
    FOLDER.join(name)
}
