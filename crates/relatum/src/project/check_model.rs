//! Checks a model: everything that loading does not verify.

use super::{ModelFolder, Project, models};
use crate::model::{Card, ModelError};
use crate::store::{StoreError, TensorFile};

impl ModelFolder {
    /// Loads the model and verifies what loading does not: that every value is a finite number and that
    /// the card fits the tables, and of a model in reduced precision its checksum. Its shapes and the graph it
    /// belongs to are verified by [`load`](Self::load).
    pub fn check(&self, project: &Project) -> Result<(), ModelError> {
        let stored = self.load(project)?;
        let unusable = |what: String| ModelError::Unusable { path: self.model_file(), what };
        TensorFile::open(&self.model_file())?;
        for (name, [rows, columns], values) in models::tables(&stored.model) {
            let wrong = values.not_finite().count();
            if let Some(at) = values.not_finite().next() {
                let what = format!(
                    "{wrong} of the {} values of its {name} are not finite, the first in row {}",
                    rows * columns,
                    at / columns
                );
                return Err(unusable(what));
            }
        }
        let counts = |card: &Card| (card.entities, card.relations);
        let real = (stored.model.entity_count(), stored.model.relation_count());
        if counts(&stored.card) != real {
            let (entities, relations) = counts(&stored.card);
            let what = format!(
                "its card has {entities} entities and {relations} relations, its tables hold {} and {}",
                real.0, real.1
            );
            return Err(unusable(what));
        }
        Ok(())
    }

    /// Whether a default model was chosen; if it was, it must exist.
    pub fn check_default(project: &Project) -> Result<bool, ModelError> {
        let path = project.dir().join("models").join(models::CHOSEN);
        let name = match std::fs::read_to_string(&path) {
            Ok(name) => name,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io("read", &path)(error).into()),
        };
        Self::of(project, name.trim())?.require()?;
        Ok(true)
    }

    /// `card.json` is a copy for people, and must be equal to the card in the model itself. Returns whether
    /// there is one.
    pub fn check_card(&self) -> Result<bool, ModelError> {
        let path = self.dir().join("card.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(StoreError::io("read", &path)(error).into()),
        };
        let copy: Card = serde_json::from_str(&text)
            .map_err(|error| StoreError::damaged(&path, format!("it is not a card ({error})")))?;
        // A model whose header cannot be read is found by `check`.
        if self.glance().is_ok_and(|glance| glance.card != copy) {
            return Err(StoreError::damaged(&path, "it is not the card of the model beside it").into());
        }
        Ok(true)
    }
}
