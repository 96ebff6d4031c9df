//! Compares sightings with the item lists of the requests.

mod bundles;

use std::path::Path;

use trace_explain::{Object, Session, Sightings};
use trace_reducer::model::Handle;

#[test]
fn sightings_are_those_of_the_requests() {
    let mut sightings_in_all = 0;
    bundles::for_each(|path, session| {
        let trace = session.trace();
        let sightings = Sightings::new(trace);
        let first = sightings.first(trace);
        let counts = sightings.counts();
        for item in trace.items.handles() {
            let shown: Vec<_> = trace
                .inferences
                .iter()
                .filter(|(_, call)| trace.lists.get(call.request_items).contains(&item))
                .map(|(inference, _)| inference)
                .collect();
            sightings_in_all += shown.len();
            assert_eq!(sightings.of(item), shown, "{}, {}", path.display(), session.name(Object::Item(item)));
            assert_eq!(counts[item.index()] as usize, shown.len(), "{}", path.display());
            assert_eq!(first[item.index()], shown.first().copied(), "{}", path.display());
        }
    });
    assert!(sightings_in_all > 300, "{sightings_in_all}");
}

#[test]
fn objects_are_found_by_their_names() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/three-children");
    let session = Session::open(&sample).expect("opens");
    for object in session.objects() {
        let name = session.name(object);
        assert_eq!(session.find(&name), Some(object), "{name}");
        assert_eq!(name.to_string().parse().ok(), Some(name.clone()), "{name}");
    }
}
