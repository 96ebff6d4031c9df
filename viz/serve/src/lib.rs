//! Serves the page of a session on the loopback interface.
