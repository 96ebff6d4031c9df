/**
 * Everything beside the timeline.
 */
export function startPanels(data, store, bodies, timeline) {
  document.title = data.session.name;
}
