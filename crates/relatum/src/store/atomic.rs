//! Files and folders that are either whole or not there.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// Writes a file under a temporary name beside it, flushes it to the disk and renames it,
/// so that a reader sees the old file or the new one, never a part.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), StoreError> {
    let temporary = beside(path, "partial");
    let written = write_and_sync(&temporary, write);
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // The original error matters more than one of the clean-up.
        let _ = fs::remove_file(&temporary);
    }
    renamed.map_err(StoreError::io("write", path))?;
    sync_folder(parent(path))
}

fn write_and_sync(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(path)?);
    write(&mut writer)?;
    writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Lets the disk begin to store what has been written, so that the sync at the end has less to wait for.
#[cfg(target_os = "linux")]
pub(crate) fn begin_sync(file: &File) {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open as long as `file` is borrowed, and no memory is passed. The call is
    // only a hint: whatever its result, `sync_all` later waits for everything and reports every error.
    #[allow(unsafe_code)]
    unsafe {
        libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn begin_sync(_: &File) {}

/// A folder in the making: filled under a temporary name, it appears under its own name
/// only when [`finish`](Self::finish) is called. Dropped before that, it vanishes.
pub struct Staging {
    target: PathBuf,
    temporary: PathBuf,
    /// Held while the folder is being made; a killed process leaves the folder, not the lock.
    lock: Option<File>,
    parents: NewParents,
    /// Whether the target was an empty folder, which is restored if the work fails.
    took_over: bool,
}

impl Staging {
    /// Starts a folder. What an earlier, killed process left of the same folder is removed.
    pub fn begin(target: &Path) -> Result<Self, StoreError> {
        refuse_taken(target)?;
        let temporary = beside(target, "partial");
        let parents = NewParents::create(target)?;
        let lock = lock_beside(target, &temporary)?;
        // Somebody may have finished the same folder while this process waited for its turn.
        refuse_taken(target)?;
        // An empty folder is taken over. This is tried now, so that a failure shows before the work, not after it.
        let took_over = target.exists();
        if took_over {
            fs::remove_dir(target).map_err(StoreError::io("take over", target))?;
        }
        let staging = Self { target: target.to_owned(), temporary, lock: Some(lock), parents, took_over };
        remove_if_there(&staging.temporary)?;
        fs::create_dir(&staging.temporary).map_err(StoreError::io("create", target))?;
        Ok(staging)
    }

    /// Where to write for now.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Gives the folder its name. Every file in it must have been synced.
    pub fn finish(mut self) -> Result<(), StoreError> {
        sync_folder(&self.temporary)?;
        fs::rename(&self.temporary, &self.target).map_err(StoreError::io("create", &self.target))?;
        self.unlock();
        self.parents.keep();
        sync_folder(parent(&self.target))
    }

    fn unlock(&mut self) {
        // The lock file is removed before it is unlocked: a process that gets the lock later sees that the
        // file is gone.
        if let Some(lock) = self.lock.take() {
            let _ = fs::remove_file(lock_name(&self.temporary));
            drop(lock);
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // `drop` cannot report a failure.
            let _ = fs::remove_dir_all(&self.temporary);
            if self.took_over {
                let _ = fs::create_dir(&self.target);
            }
            self.unlock();
        }
    }
}

/// The folders above a target that had to be made for it. Dropped before `keep`, they are removed again.
struct NewParents {
    made: Vec<PathBuf>,
}

impl NewParents {
    fn create(target: &Path) -> Result<Self, StoreError> {
        let above = parent(target).ancestors();
        let missing = above.take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        let made = missing.map(Path::to_owned).collect();
        let parent = parent(target);
        let created = if parent.exists() && !parent.is_dir() {
            Err(io::ErrorKind::NotADirectory.into())
        } else {
            fs::create_dir_all(parent)
        };
        created.map_err(StoreError::io("create", target))?;
        Ok(Self { made })
    }

    fn keep(&mut self) {
        self.made.clear();
    }
}

impl Drop for NewParents {
    fn drop(&mut self) {
        for folder in &self.made {
            // This fails, as it should, if somebody has put something into the folder meanwhile.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The target must not exist, or be an empty folder that is no process's current folder.
fn refuse_taken(target: &Path) -> Result<(), StoreError> {
    let Ok(there) = fs::symlink_metadata(target) else { return Ok(()) };
    let empty = || fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_none());
    let is_here = || fs::canonicalize(target).ok() == std::env::current_dir().and_then(fs::canonicalize).ok();
    if there.is_dir() && empty() && !is_here() {
        return Ok(());
    }
    Err(StoreError::Exists(target.to_owned()))
}

fn lock_beside(target: &Path, temporary: &Path) -> Result<File, StoreError> {
    let path = lock_name(temporary);
    let lock = File::create(&path).map_err(StoreError::io("create", target))?;
    match lock.try_lock() {
        // The file may have been removed, with its lock, between opening and locking it.
        Ok(()) if !path.exists() => Err(StoreError::Busy(target.to_owned())),
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy(target.to_owned())),
        Err(TryLockError::Error(source)) => Err(StoreError::io("create", target)(source)),
    }
}

fn lock_name(temporary: &Path) -> PathBuf {
    temporary.with_added_extension("lock")
}

fn remove_if_there(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

/// Makes the names in a folder survive a power cut.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("write", folder))
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// `movies` → `.movies.partial`: hidden, and clearly not finished.
fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_else(|| "relatum".as_ref()));
    name.push(".");
    name.push(extension);
    parent(path).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_failed_write_keeps_the_old_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.unwrap_err().to_string().contains("free some space"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(dir.path()), ["file"]);
    }

    #[test]
    fn an_unfinished_folder_vanishes() {
        let dir = tempfile::tempdir().unwrap();
        let staging = Staging::begin(&dir.path().join("new/parents/project")).unwrap();
        fs::write(staging.path().join("part"), "x").unwrap();
        drop(staging);
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn what_a_killed_process_left_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("project");
        let killed = Staging::begin(&target).unwrap();
        fs::write(killed.path().join("stale"), "x").unwrap();
        fs::write(lock_name(killed.path()), "").unwrap();
        // A kill runs no destructor, but it frees the lock.
        killed.lock.as_ref().unwrap().unlock().unwrap();
        std::mem::forget(killed);
        let next = Staging::begin(&target).unwrap();
        fs::write(next.path().join("fresh"), "x").unwrap();
        next.finish().unwrap();
        assert_eq!(names(&target), ["fresh"]);
        assert_eq!(names(dir.path()), ["project"]);
    }

    #[test]
    fn two_processes_cannot_make_the_same_folder() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("project");
        let _first = Staging::begin(&target).unwrap();
        assert!(matches!(Staging::begin(&target), Err(StoreError::Busy(_))));
    }

    #[test]
    fn an_empty_folder_is_taken_over_and_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("project");
        fs::create_dir(&target).unwrap();
        drop(Staging::begin(&target).unwrap());
        assert_eq!(names(dir.path()), ["project"]);
        Staging::begin(&target).unwrap().finish().unwrap();
        assert_eq!(names(dir.path()), ["project"]);
    }

    #[test]
    fn a_folder_with_something_in_it_is_never_touched() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("mine"), "x").unwrap();
        assert!(matches!(Staging::begin(dir.path()), Err(StoreError::Exists(_))));
        assert!(matches!(Staging::begin(&dir.path().join("mine")), Err(StoreError::Exists(_))));
    }
}
