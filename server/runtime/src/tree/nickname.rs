//! Display names of agents.

/// The names, in the order in which they are used.
const NAMES: [&str; 40] = [
    "Elbe", "Nile", "Tagus", "Volga", "Indus", "Loire", "Tiber", "Ganges", "Douro", "Rhone", "Oder", "Mekong", "Ebro",
    "Danube", "Po", "Orinoco", "Neva", "Zambezi", "Meuse", "Yukon", "Arno", "Niger", "Drava", "Murray", "Seine",
    "Congo", "Tisza", "Amur", "Weser", "Thames", "Sava", "Lena", "Isar", "Paraná", "Vltava", "Orange", "Vardar",
    "Limpopo", "Marne", "Jordan",
];

/// Returns the name of the agent with this number, starting at 0. Once all names are used, they are reused with a number
/// appended.
pub(super) fn pick(number: usize) -> String {
    let name = NAMES[number % NAMES.len()];
    match number / NAMES.len() {
        0 => name.to_owned(),
        round => format!("{name} {}", round + 1),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_agents_have_one_name() {
        let names: HashSet<String> = (0..200).map(pick).collect();
        assert_eq!(names.len(), 200);
        assert_eq!((pick(0), pick(40)), ("Elbe".to_owned(), "Elbe 2".to_owned()));
    }
}
