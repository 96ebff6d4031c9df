//! A diagram as SVG, made without Graphviz.
//!
//! The picture is one document without scripts, and it refers only to the page that contains it. The colours of the
//! light picture are attributes of its elements, and a style sheet replaces them for readers who prefer dark mode.

use std::fmt::Write;

use super::super::{Diagram, Edge, Group, Mark, Node, Shape};
use super::layout::{self, Block, Layout, Rect, Route};
use super::style::{self, Border, Head};
use super::{dot, outline, text};

/// Length of the head of an arrow.
const HEAD_LENGTH: i64 = 9;

/// Half the width of the head of an arrow.
const HEAD_HALF: i64 = 4;

/// Returns a diagram as SVG, with the layout of this crate.
pub fn svg(diagram: &Diagram) -> String {
    let layout = layout::lay_out(diagram, &layout::Measure::new());
    let mut svg = Svg { text: String::new() };
    svg.open(&layout);
    let marks = outline::border_marks(diagram);
    for ((group, mark), block) in diagram.groups.iter().zip(marks).zip(&layout.groups) {
        svg.group(group, mark, block);
    }
    // Nodes are drawn after arrows to hide the parts that pass behind them, and labels after nodes so that none is
    // hidden.
    let arrows = || diagram.edges.iter().zip(&layout.routes).enumerate();
    for (index, (edge, route)) in arrows() {
        if let Some(route) = route {
            svg.arrow(index, edge, route);
        }
    }
    for (node, block) in diagram.nodes.iter().zip(&layout.nodes) {
        svg.node(node, block);
    }
    for (_, (edge, route)) in arrows() {
        if let Some(route) = route {
            svg.arrow_label(edge, route);
        }
    }
    svg.caption(&layout);
    svg.push(format_args!("</g>\n</svg>\n"));
    svg.text
}

struct Svg {
    text: String,
}

/// The look of a line of text.
#[derive(Clone, Copy)]
struct Letters {
    size: i64,
    color: &'static str,
    /// More attributes.
    more: &'static str,
}

impl Svg {
    fn push(&mut self, part: std::fmt::Arguments<'_>) {
        self.text.write_fmt(part).expect("writing to a string cannot fail");
    }

    fn open(&mut self, layout: &Layout) {
        let (width, height) = (layout.width, layout.height);
        let title = text::xml(&layout.title);
        self.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"graphics-document document\" aria-label=\"{title}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{fonts}\">\n\
             <style>{sheet}</style>\n<g class=\"graph\">\n<title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{ground}\"/>\n",
            fonts = dot::FONTS,
            sheet = style::dark_sheet(),
            ground = style::GROUND.light,
        ));
        if !layout.title.is_empty() {
            let letters = Letters {
                size: layout::TITLE_SIZE,
                color: style::TEXT.light,
                more: " class=\"title\" font-weight=\"bold\"",
            };
            self.line((layout::MARGIN, layout::MARGIN + layout::TITLE_SIZE), &layout.title, letters);
        }
    }

    fn caption(&mut self, layout: &Layout) {
        let letters = Letters { size: layout::SMALL_FONT_SIZE, color: style::FAINT_TEXT.light, more: "" };
        let count = layout.caption.len() as i64;
        for (index, line) in layout.caption.iter().enumerate() {
            let above_end = (count - 1 - index as i64) * layout::SMALL_LINE_HEIGHT;
            self.line((layout::MARGIN, layout.height - layout::MARGIN + 4 - above_end), line, letters);
        }
    }

    fn line(&mut self, (x, y): (i64, i64), line: &str, letters: Letters) {
        let Letters { size, color, more } = letters;
        let line = text::xml(line);
        self.push(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{color}\"{more}>{line}</text>\n"
        ));
    }

    /// Opens an element of the diagram with its class, its text for screen readers, its tooltip and its link.
    fn enter(&mut self, class: &str, id: &str, says: &[String], tooltip: &str, link: Option<&str>) {
        let (class, id) = (text::xml(class), text::xml(id));
        let says = text::xml(&says.join(", "));
        self.push(format_args!("<g class=\"{class}\" id=\"{id}\""));
        match link {
            Some(link) => self.push(format_args!("><a href=\"{}\" aria-label=\"{says}\">", text::xml(link))),
            None => self.push(format_args!(" role=\"img\" aria-label=\"{says}\"><g>")),
        }
        let tooltip = text::tooltip(tooltip);
        if !tooltip.is_empty() {
            self.push(format_args!("<title>{}</title>", text::xml(&tooltip.join("\n"))));
        }
        self.push(format_args!("\n"));
    }

    fn leave(&mut self, link: Option<&str>) {
        self.push(format_args!("{}</g>\n", if link.is_some() { "</a>" } else { "</g>" }));
    }

    /// Draws a group whose border shows `mark`.
    fn group(&mut self, group: &Group, mark: Mark, block: &Block) {
        let link = group.object.as_ref().and_then(text::permalink);
        let class = format!("cluster group {}", mark.as_str());
        let says = said("box", group.mark.as_str(), &block.lines);
        self.enter(&class, &group.id, &says, &group.tooltip, link.as_deref());
        let border = style::border(mark, style::GROUP_BORDER);
        self.rect(block.place, 10, style::GROUP.light, border);
        if border.lines > 1 {
            self.rect(inset(block.place, 3), 8, "none", border);
        }
        let (x, mut y) =
            (block.place.x + layout::GROUP_PADDING, block.place.y + layout::GROUP_PADDING + layout::FONT_SIZE - 2);
        for (index, line) in block.lines.iter().enumerate() {
            let heading = Letters { size: layout::FONT_SIZE, color: style::TEXT.light, more: " font-weight=\"bold\"" };
            let more =
                Letters { size: layout::SMALL_FONT_SIZE, color: style::FAINT_TEXT.light, more: " class=\"faint\"" };
            self.line((x, y), line, if index == 0 { heading } else { more });
            y += layout::LINE_HEIGHT;
        }
        self.leave(link.as_deref());
    }

    fn rect(&mut self, Rect { x, y, width, height }: Rect, radius: i64, fill: &str, border: Border) {
        self.push(format_args!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\" fill=\"{fill}\"{}/>\n",
            stroke(border)
        ));
    }

    fn path(&mut self, path: std::fmt::Arguments<'_>, fill: &str, border: Border) {
        self.push(format_args!("<path d=\"{path}\" fill=\"{fill}\"{}/>\n", stroke(border)));
    }

    fn node(&mut self, node: &Node, block: &Block) {
        let look = style::node(node.shape);
        let link = node.object.as_ref().and_then(text::permalink);
        let class = format!("node {} {}", look.class, node.mark.as_str());
        let says = said(look.class, node.mark.as_str(), &block.lines);
        self.enter(&class, &node.id, &says, &node.tooltip, link.as_deref());
        let border = style::border(node.mark, look.border);
        self.outline(node.shape, block.place, look.fill.light, border);
        if border.lines > 1 {
            self.outline(node.shape, inset(block.place, 3), "none", border);
        }
        let extra = style::extra_width(node.shape);
        let indent = if matches!(node.shape, Shape::Tool | Shape::Compaction | Shape::Cell) { extra / 2 } else { 0 };
        let x = block.place.x + layout::NODE_PADDING.0 + indent;
        let lines = block.lines.len() as i64;
        let top = block.place.y + (block.place.height - lines * layout::LINE_HEIGHT) / 2;
        for (index, line) in block.lines.iter().enumerate() {
            let y = top + index as i64 * layout::LINE_HEIGHT + layout::FONT_SIZE;
            let first = Letters { size: layout::FONT_SIZE, color: style::TEXT.light, more: "" };
            let more = Letters { size: layout::FONT_SIZE, color: style::FAINT_TEXT.light, more: " class=\"faint\"" };
            self.line((x, y), line, if index == 0 { first } else { more });
        }
        self.leave(link.as_deref());
    }

    /// Draws the outline of a shape within `place`.
    fn outline(&mut self, shape: Shape, place: Rect, fill: &str, border: Border) {
        let Rect { x, y, width, height } = place;
        let (right, bottom) = (place.right(), place.bottom());
        match shape {
            Shape::Agent => self.rect(place, 10, fill, border),
            Shape::Turn => self.rect(place, 2, fill, border),
            Shape::Missing => self.rect(place, 2, fill, Border { dash: style::Dash::Dashed, ..border }),
            Shape::Inference => {
                let (left, end) = (x + 7, right - 7);
                let (above, below) = (y + 7, bottom - 7);
                self.path(
                    format_args!(
                        "M{left} {y}H{end}L{right} {above}V{below}L{end} {bottom}H{left}L{x} {below}V{above}Z"
                    ),
                    fill,
                    border,
                );
            }
            Shape::Tool => {
                self.rect(place, 2, fill, border);
                self.path(format_args!("M{} {y}V{bottom}", x + 6), "none", border);
            }
            Shape::Cell => {
                self.rect(place, 2, fill, border);
                self.path(format_args!("M{} {y}V{bottom}M{} {y}V{bottom}", x + 6, right - 6), "none", border);
            }
            Shape::Item => {
                let fold = right - 9;
                let below = y + 9;
                self.path(format_args!("M{x} {y}H{fold}L{right} {below}V{bottom}H{x}Z"), fill, border);
                self.path(format_args!("M{fold} {y}V{below}H{right}"), "none", border);
            }
            Shape::Compaction => {
                self.rect(place, 2, fill, border);
                let (left, end) = (x + 7, right - 7);
                let (above, below) = (y + 7, bottom - 7);
                self.path(
                    format_args!("M{left} {y}L{x} {above}M{end} {y}L{right} {above}M{x} {below}L{left} {bottom}M{end} {bottom}L{right} {below}"),
                    "none",
                    border,
                );
            }
            Shape::Folded => {
                self.rect(Rect { x: x + 5, y: y + 5, width: width - 5, height: height - 5 }, 2, fill, border);
                self.rect(Rect { x, y, width: width - 5, height: height - 5 }, 2, fill, border);
            }
        }
    }

    fn arrow(&mut self, index: usize, edge: &Edge, route: &Route) {
        let look = style::arrow(edge.style, edge.mark);
        let link = edge.object.as_ref().and_then(text::permalink);
        let class = format!("edge {} {}", look.class, edge.mark.as_str());
        let says = said(look.class, edge.mark.as_str(), &route.label.lines);
        self.enter(&class, &format!("edge_{index}"), &says, &edge.tooltip, link.as_deref());
        let border = Border { color: look.color, width: look.width, dash: look.dash, lines: 1 };
        let (dx, dy) = route.heading.step();
        let (x, y) = route.end;
        let (base_x, base_y) = (x - dx * HEAD_LENGTH, y - dy * HEAD_LENGTH);
        // The line ends at the back of the head, unless the head is open and the line must reach its tip.
        let (line_x, line_y) =
            if look.head == Head::Full || look.head == Head::Hollow { (base_x, base_y) } else { route.end };
        let [(ax, ay), (bx, by), (cx, cy), (ex, ey)] = route.curve;
        // If the arrow has no straight part at its end, the curve must end at the back of the head too.
        let (ex, ey) = if (ex, ey) == route.end { (line_x, line_y) } else { (ex, ey) };
        let (sx, sy) = route.start;
        self.path(format_args!("M{sx} {sy}L{ax} {ay}C{bx} {by} {cx} {cy} {ex} {ey}L{line_x} {line_y}"), "none", border);
        let solid = stroke(Border { dash: style::Dash::Solid, ..border });
        let (wing_x, wing_y) = (dy.abs() * HEAD_HALF, dx.abs() * HEAD_HALF);
        let wings = format!("{},{} {x},{y} {},{}", base_x + wing_x, base_y + wing_y, base_x - wing_x, base_y - wing_y);
        let color = look.color.light;
        match look.head {
            Head::Full => self.push(format_args!("<polygon points=\"{wings}\" fill=\"{color}\"{solid}/>\n")),
            Head::Hollow => self.push(format_args!("<polygon points=\"{wings}\" fill=\"none\"{solid}/>\n")),
            Head::Open => self.push(format_args!("<polyline points=\"{wings}\" fill=\"none\"{solid}/>\n")),
            Head::Bar => {
                let (bar_x, bar_y) = (x - dx * 3, y - dy * 3);
                let bar = format!("{},{} {},{}", bar_x + wing_x, bar_y + wing_y, bar_x - wing_x, bar_y - wing_y);
                self.push(format_args!("<polyline points=\"{bar}\" fill=\"none\"{solid}/>\n"));
            }
        }
        self.leave(link.as_deref());
    }

    fn arrow_label(&mut self, edge: &Edge, route: &Route) {
        let look = style::arrow(edge.style, edge.mark);
        let block = &route.label;
        if block.lines.is_empty() {
            return;
        }
        // Hidden from screen readers, which read the label together with its arrow.
        let class = format!("edge {} {}", look.class, edge.mark.as_str());
        self.push(format_args!("<g class=\"{class}\" aria-hidden=\"true\">\n"));
        let more = " stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
        let x = block.place.x;
        for (index, line) in block.lines.iter().enumerate() {
            let y = block.place.y + index as i64 * layout::SMALL_LINE_HEIGHT + layout::SMALL_FONT_SIZE;
            self.line((x, y), line, Letters { size: layout::SMALL_FONT_SIZE, color: look.color.light, more });
        }
        self.push(format_args!("</g>\n"));
    }
}

/// Returns the texts for screen readers.
fn said(kind: &str, mark: &str, lines: &[String]) -> Vec<String> {
    let mark = (mark != "fine").then(|| mark.to_owned());
    std::iter::once(kind.to_owned()).chain(mark).chain(lines.iter().cloned()).collect()
}

fn inset(rect: Rect, by: i64) -> Rect {
    Rect { x: rect.x + by, y: rect.y + by, width: rect.width - 2 * by, height: rect.height - 2 * by }
}

fn stroke(border: Border) -> String {
    let dash = border.dash.as_svg().map(|dash| format!(" stroke-dasharray=\"{dash}\"")).unwrap_or_default();
    format!(" stroke=\"{}\" stroke-width=\"{}\"{dash}", border.color.light, border.width)
}
