//! The page that shows all of a session: one document that needs no network.
