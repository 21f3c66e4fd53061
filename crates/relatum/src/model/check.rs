//! A model read with suspicion, for `relatum check`.

use super::folder;
use super::folder::{Card, ModelError, ModelFolder};
use crate::store::{Project, StoreError};

impl ModelFolder {
    /// Loads the model and verifies what loading takes on trust: that every value is a finite number
    /// and that the cards say what the tables are. Its checksum, its shapes and whose graph it is
    /// are verified by [`load`](Self::load).
    pub fn check(&self, project: &Project) -> Result<(), ModelError> {
        let stored = self.load(project)?;
        let unusable = |what: String| ModelError::Unusable { path: self.model_file(), what };
        for (name, [rows, columns], values) in folder::tables(&stored.model) {
            let wrong = values.iter().filter(|value| !value.is_finite()).count();
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
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
                "its card speaks of {entities} entities and {relations} relations, its tables hold {} and {}",
                real.0, real.1
            );
            return Err(unusable(what));
        }
        self.check_readable_card(&stored.card)
    }

    /// `card.json` is a copy for people, and must not tell them anything else.
    fn check_readable_card(&self, card: &Card) -> Result<(), ModelError> {
        let path = self.dir().join("card.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StoreError::io("read", &path)(error).into()),
        };
        let copy: Card = serde_json::from_str(&text)
            .map_err(|error| StoreError::damaged(&path, format!("it is not a card ({error})")))?;
        if copy != *card {
            return Err(StoreError::damaged(&path, "it is not the card of the model beside it").into());
        }
        Ok(())
    }
}
