//! Queries with known answers, by which the engine is judged.
