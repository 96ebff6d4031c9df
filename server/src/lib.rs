//! The app-server.
