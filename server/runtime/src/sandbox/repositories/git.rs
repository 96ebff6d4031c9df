//! Where the user's Git finds its configuration.

use std::path::PathBuf;

/// System-wide configurations of Git, including those of package managers.
const OF_SYSTEM: [&str; 5] = [
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/usr/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
    "/opt/local/etc/gitconfig",
];

/// Configurations that the user's Git reads in every repository.
#[derive(Debug, Clone, Default)]
pub struct UserGit {
    /// The user's home directory, which `~` in configurations stands for.
    pub home: Option<PathBuf>,
    /// Configurations of the user and of the system. Missing files are included, because a command may create them.
    pub configurations: Vec<PathBuf>,
}

impl UserGit {
    /// Returns the default places for a user with this home directory.
    #[must_use]
    pub fn usual(home: Option<PathBuf>) -> Self {
        let of_user = [".gitconfig", ".config/git/config"];
        let of_user = home.iter().flat_map(|home| of_user.map(|name| home.join(name)));
        let configurations = of_user.chain(OF_SYSTEM.map(PathBuf::from)).collect();
        Self { home, configurations }
    }

    /// Returns the same with further configurations, for example those that environment variables name.
    #[must_use]
    pub fn with(mut self, configurations: impl IntoIterator<Item = PathBuf>) -> Self {
        self.configurations.extend(configurations);
        self
    }
}
