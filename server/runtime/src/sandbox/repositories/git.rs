//! Where the user's Git finds its configuration.

use std::path::PathBuf;

/// Where Git of the system has its configuration, and where that of package managers has it.
const OF_SYSTEM: [&str; 5] = [
    "/etc/gitconfig",
    "/usr/local/etc/gitconfig",
    "/usr/etc/gitconfig",
    "/opt/homebrew/etc/gitconfig",
    "/opt/local/etc/gitconfig",
];

/// What the user's Git reads wherever it is used.
#[derive(Debug, Clone, Default)]
pub struct UserGit {
    /// The home, to which `~` in configurations refers.
    pub home: Option<PathBuf>,
    /// Configurations of the user and of the system. Those that are missing count too: a command may make them.
    pub configurations: Vec<PathBuf>,
}

impl UserGit {
    /// Returns the usual places for a user with a home.
    #[must_use]
    pub fn usual(home: Option<PathBuf>) -> Self {
        let of_user = [".gitconfig", ".config/git/config"];
        let of_user = home.iter().flat_map(|home| of_user.map(|name| home.join(name)));
        let configurations = of_user.chain(OF_SYSTEM.map(PathBuf::from)).collect();
        Self { home, configurations }
    }

    /// Returns the same with more configurations, such as those that variables of the environment name.
    #[must_use]
    pub fn with(mut self, configurations: impl IntoIterator<Item = PathBuf>) -> Self {
        self.configurations.extend(configurations);
        self
    }
}
