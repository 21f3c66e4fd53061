//! Where shards lie: a folder, or anything that `object_store` reaches.

use std::path::Path as FilePath;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result as PlanResult};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    Error as StoreError, ObjectStore, ObjectStoreExt, PutPayload, WriteMultipart, parse_url_opts,
};
use url::Url;
use xxhash_rust::xxh3::Xxh3;

use crate::ClusterError;

/// Parts of a file that may be on their way to the store at the same moment.
const ON_THE_WAY: usize = 8;
/// Bytes of a large file that are read at a time.
const PART: u64 = 16 << 20;

/// A folder of shards.
#[derive(Clone, Debug)]
pub struct Place {
    store: Arc<dyn ObjectStore>,
    /// The folder within the store.
    folder: Path,
    /// What the folder is called, with a slash at its end.
    url: Url,
}

impl Place {
    /// The place of a name: a path, or the address of an object store.
    pub fn open(name: &str) -> Result<Self, ClusterError> {
        let refused = |why: String| ClusterError::Place { place: name.to_owned(), why };
        if name.contains("://") {
            let mut url = Url::parse(name).map_err(|error| refused(error.to_string()))?;
            if !url.path().ends_with('/') {
                let path = format!("{}/", url.path());
                url.set_path(&path);
            }
            let (store, folder) = reached(&url).map_err(|error| refused(error.to_string()))?;
            return Ok(Self { store, folder, url });
        }
        let path = std::path::absolute(FilePath::new(name)).map_err(|error| refused(error.to_string()))?;
        if path.exists() && !path.is_dir() {
            return Err(refused("it is a file, and a folder was expected".to_owned()));
        }
        let url = Url::from_directory_path(&path);
        let url = url.map_err(|()| refused("its name cannot be written as an address".to_owned()))?;
        let folder = Path::from_url_path(url.path()).map_err(|error| refused(error.to_string()))?;
        Ok(Self { store: Arc::new(LocalFileSystem::new()), folder, url })
    }

    /// The address of a file in the folder.
    pub fn url_of(&self, file: &str) -> String {
        format!("{}{file}", self.url)
    }

    /// The whole content of a file; `None` if there is none.
    pub async fn read(&self, file: &str) -> Result<Option<Vec<u8>>, ClusterError> {
        let failed = |source| ClusterError::Store { action: "read", file: self.shown(file), source };
        match self.store.get(&self.path(file)).await {
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error)),
            Ok(found) => Ok(Some(found.bytes().await.map_err(failed)?.to_vec())),
        }
    }

    /// The last bytes of a file, and how long it is in all; `None` if there is none.
    pub async fn end_of(&self, file: &str, most: u64) -> Result<Option<(u64, Vec<u8>)>, ClusterError> {
        let failed = |source| ClusterError::Store { action: "read", file: self.shown(file), source };
        let length = match self.store.head(&self.path(file)).await {
            Err(StoreError::NotFound { .. }) => return Ok(None),
            found => found.map_err(failed)?.size,
        };
        let range = length.saturating_sub(most)..length;
        if range.is_empty() {
            return Ok(Some((length, Vec::new())));
        }
        let bytes = self.store.get_range(&self.path(file), range).await.map_err(failed)?;
        Ok(Some((length, bytes.to_vec())))
    }

    /// The XXH3 of a file of a known length, which is read in parts.
    pub async fn checksum(&self, file: &str, bytes: u64) -> Result<String, ClusterError> {
        let failed = |source| ClusterError::Store { action: "read", file: self.shown(file), source };
        let mut hash = Xxh3::new();
        let mut at = 0;
        while at < bytes {
            let end = bytes.min(at + PART);
            let part = self.store.get_range(&self.path(file), at..end).await.map_err(failed)?;
            hash.update(&part);
            at = end;
        }
        Ok(format!("{:016x}", hash.digest()))
    }

    /// Writes a small file, whole or not at all.
    pub async fn write(&self, file: &str, content: Vec<u8>) -> Result<(), ClusterError> {
        let put = self.store.put(&self.path(file), PutPayload::from(content)).await;
        put.map_err(|source| ClusterError::Store { action: "write", file: self.shown(file), source })?;
        Ok(())
    }

    /// Begins a large file. It is not there before [`Upload::finish`].
    pub async fn upload(&self, file: &str) -> Result<Upload, ClusterError> {
        let file_name = self.shown(file);
        let upload = self.store.put_multipart(&self.path(file)).await;
        let upload = upload.map_err(|source| ClusterError::Store {
            action: "write",
            file: file_name.clone(),
            source,
        })?;
        Ok(Upload { parts: WriteMultipart::new_with_chunk_size(upload, 8 << 20), file: file_name })
    }

    /// Removes a file; that it was not there is no failure.
    pub async fn remove(&self, file: &str) -> Result<(), ClusterError> {
        match self.store.delete(&self.path(file)).await {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(source) => Err(ClusterError::Store { action: "remove", file: self.shown(file), source }),
        }
    }

    /// Removes the files of shards of these numbers, and what unfinished uploads of them have left. No other file is
    /// touched: the folder may be somebody's.
    pub async fn remove_parts(&self, numbers: std::ops::Range<usize>) -> Result<(), ClusterError> {
        for number in numbers.clone() {
            self.remove(&part(number)).await?;
        }
        // A folder of this machine keeps an upload as `part-00000.parquet#1` until it is finished.
        let Ok(folder) = self.url.to_file_path() else { return Ok(()) };
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = name.split_once('#').and_then(|(name, _)| number_of(name));
            if number.is_some_and(|number| numbers.contains(&number)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// A file as people know it.
    pub fn shown(&self, file: &str) -> String {
        let folder = self.url.to_file_path().map(|path| path.display().to_string());
        let folder = folder.unwrap_or_else(|()| self.url.to_string());
        if file.is_empty() { folder } else { format!("{}/{file}", folder.trim_end_matches('/')) }
    }

    fn path(&self, file: &str) -> Path {
        self.folder.clone().join(file)
    }
}

/// The name of the file of a shard.
pub fn part(number: usize) -> String {
    format!("part-{number:05}.parquet")
}

/// The number in the name of such a file.
fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix("part-")?.strip_suffix(".parquet")?.parse().ok()
}

/// A large file that is being written.
pub struct Upload {
    parts: WriteMultipart,
    file: String,
}

impl Upload {
    /// Writes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), ClusterError> {
        let failed = |source| ClusterError::Store { action: "write", file: self.file.clone(), source };
        self.parts.wait_for_capacity(ON_THE_WAY).await.map_err(failed)?;
        self.parts.write(bytes);
        Ok(())
    }

    /// Makes the file appear.
    pub async fn finish(self) -> Result<(), ClusterError> {
        let file = self.file;
        let finished = self.parts.finish().await;
        finished.map_err(|source| ClusterError::Store { action: "write", file, source })?;
        Ok(())
    }

    /// Leaves nothing of the file.
    pub async fn abort(self) {
        let _ = self.parts.abort().await;
    }
}

/// The store of an address; its keys come from the environment, under the names that `object_store` documents.
fn reached(url: &Url) -> Result<(Arc<dyn ObjectStore>, Path), StoreError> {
    let settings = std::env::vars().map(|(key, value)| (key.to_lowercase(), value));
    let settings =
        settings.filter(|(key, _)| ["aws_", "google_", "azure_"].iter().any(|it| key.starts_with(it)));
    let (store, path) = parse_url_opts(url, settings)?;
    Ok((Arc::from(store), path))
}

/// Finds the store of an address when a plan first names it, in every process alike.
#[derive(Debug, Default)]
pub struct Stores {
    known: DefaultObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.known.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> PlanResult<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.known.get_store(url) {
            return Ok(store);
        }
        let (store, _) = reached(url).map_err(|error| DataFusionError::ObjectStore(Box::new(error)))?;
        self.known.register_store(url, Arc::clone(&store));
        Ok(store)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_whole_or_not_there() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::open(home.path().join("my shards").to_str().unwrap()).unwrap();
        assert_eq!(place.read("a").await.unwrap(), None);
        let mut upload = place.upload("a").await.unwrap();
        upload.write(&[7; 100]).await.unwrap();
        assert_eq!(place.read("a").await.unwrap(), None, "not before it is finished");
        upload.finish().await.unwrap();
        assert_eq!(place.read("a").await.unwrap(), Some(vec![7; 100]));
        assert_eq!(place.end_of("a", 8).await.unwrap(), Some((100, vec![7; 8])));
        let mut upload = place.upload("b").await.unwrap();
        upload.write(&[7; 100]).await.unwrap();
        upload.abort().await;
        assert_eq!(place.read("b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_was_left_of_other_shards_is_removed_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::open(home.path().to_str().unwrap()).unwrap();
        let names =
            [part(0), part(1), part(7), format!("{}#1", part(2)), part(9), "part-x.parquet".to_owned()];
        for name in &names {
            std::fs::write(home.path().join(name), "x").unwrap();
        }
        place.remove_parts(2..8).await.unwrap();
        let there = |name: &String| home.path().join(name).exists();
        assert_eq!(names.iter().map(there).collect::<Vec<_>>(), [true, true, false, false, true, true]);
    }

    #[test]
    fn what_is_no_place_is_refused_by_name() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        std::fs::write(&file, "").unwrap();
        let refused = Place::open(file.to_str().unwrap()).unwrap_err();
        assert!(refused.to_string().contains("a folder was expected") && refused.is_misuse());
        assert!(Place::open("gopher://x/y").unwrap_err().to_string().contains("gopher"));
    }
}
