//! The messages of the app-server protocol.
