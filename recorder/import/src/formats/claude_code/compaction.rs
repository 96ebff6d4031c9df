//! Summaries that replace the history of a thread.

use super::teller::Teller;

impl<'a> Teller<'_, 'a> {
    pub(super) fn boundary(&mut self, index: usize) {
        let before = match self.requests.last(self.seen.0) {
            Some(seen) if self.scan.has_requests => {
                let mut before = seen.clone();
                self.seen.1.iter().for_each(|item| before.push(*item));
                before
            }
            _ => self.history(),
        };
        self.tree.replace();
        self.link(index);
        self.compaction = Some((index, before));
        self.touch(index);
    }

    pub(super) fn summary(&mut self, index: usize) {
        self.keep(index);
        self.touch(index);
        let Some((boundary, before)) = self.compaction.take() else { return };
        let boundary = self.entry(boundary);
        let line = |id: &str| self.scan.line(id);
        let mut kept: Vec<u32> = boundary.line.preserved().iter().filter_map(|id| line(id)).collect();
        if let Some((head, tail)) = boundary.line.preserved_segment().filter(|_| kept.is_empty()) {
            kept = line(head).zip(line(tail)).map(|(head, tail)| self.tree.span(head, tail)).unwrap_or_default();
        }
        self.tree.keep(kept);
        self.note_cut_short(index);
        let after = self.history();
        let id = boundary.line.uuid.as_deref().unwrap_or("compaction");
        if let Some(event) = self.writer.compacted(self.draft, id, &before, &after, boundary.stamp()) {
            self.told.last = event;
        }
    }
}
