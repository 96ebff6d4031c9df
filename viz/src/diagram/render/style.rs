//! The look of everything in all languages: one palette, one border for each mark, one line for each style of arrow.
//!
//! No meaning depends on colour alone: each mark has its own sign and border, each style of arrow its own dash or head.
//! Texts have at least the contrast that WCAG requires of text at level AA. Borders with a meaning have at least the
//! contrast that it requires of graphics.

use std::fmt::Write;

use super::super::{Diagram, EdgeStyle, Mark, Shape, View};

/// A colour on a light and on a dark background, as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

const fn color(light: &'static str, dark: &'static str) -> Color {
    Color { light, dark }
}

pub(crate) const GROUND: Color = color("#ffffff", "#0d1117");
pub(crate) const TEXT: Color = color("#1f2328", "#e6edf3");
pub(crate) const FAINT_TEXT: Color = color("#59636e", "#9198a1");
/// Background of groups. Nested groups have the same background, and their borders separate them.
pub(crate) const GROUP: Color = color("#f6f8fa", "#151b23");
pub(crate) const GROUP_BORDER: Color = color("#b7c0ca", "#3d444d");

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
    Dotted,
}

impl Dash {
    /// Returns its name in DOT.
    pub(crate) fn as_dot(self) -> &'static str {
        match self {
            Self::Solid => "solid",
            Self::Dashed => "dashed",
            Self::Dotted => "dotted",
        }
    }

    /// Returns its `stroke-dasharray` in SVG. `None` for a solid line.
    pub(crate) fn as_svg(self) -> Option<&'static str> {
        match self {
            Self::Solid => None,
            Self::Dashed => Some("6 4"),
            Self::Dotted => Some("1.5 3.5"),
        }
    }
}

/// The border of a node or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Border {
    pub(crate) color: Color,
    pub(crate) width: &'static str,
    pub(crate) dash: Dash,
    /// How many lines it has.
    pub(crate) lines: u8,
}

/// Returns the border that shows a mark. `fine` is the colour for [`Mark::Fine`].
pub(crate) fn border(mark: Mark, fine: Color) -> Border {
    let (color, width, dash, lines) = match mark {
        Mark::Fine => (fine, "1", Dash::Solid, 1),
        Mark::Recovered => (MARKS[0], "2", Dash::Solid, 1),
        Mark::Degraded => (MARKS[1], "1.2", Dash::Solid, 2),
        Mark::Cancelled => (MARKS[2], "1.6", Dash::Dotted, 1),
        Mark::Unfinished => (MARKS[3], "1.8", Dash::Dashed, 1),
        Mark::Failed => (MARKS[4], "3", Dash::Solid, 1),
    };
    Border { color, width, dash, lines }
}

/// Colours of the marks without `Fine`, in the order of [`Mark`].
const MARKS: [Color; 5] = [
    color("#1a6e3c", "#4ac26b"),
    color("#9a4d00", "#e3a14f"),
    color("#59636e", "#9198a1"),
    color("#7a5c00", "#d4b13f"),
    color("#b3261e", "#ff7b72"),
];

/// The look of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeStyle {
    /// Class name in DOT and SVG.
    pub(crate) class: &'static str,
    pub(crate) fill: Color,
    pub(crate) border: Color,
    /// Shape in DOT.
    pub(crate) dot_shape: &'static str,
    /// Style in DOT besides `filled`.
    pub(crate) dot_style: &'static str,
    /// Brackets around the label in Mermaid.
    pub(crate) mermaid: (&'static str, &'static str),
}

/// Returns the look of a node.
pub(crate) fn node(shape: Shape) -> NodeStyle {
    let (class, fill, border, dot_shape, dot_style, mermaid) = match shape {
        Shape::Agent => ("agent", ("#e3edfd", "#16263f"), ("#3567b8", "#5b8fe0"), "box", "rounded", ("(", ")")),
        Shape::Turn => ("turn", ("#efeafb", "#241d3a"), ("#6b51ad", "#9a82d8"), "box", "", ("[", "]")),
        Shape::Inference => ("inference", ("#e2f3f1", "#12302d"), ("#1d7a70", "#45b3a6"), "tab", "", ("{{", "}}")),
        Shape::Tool => ("tool", ("#fdf3dc", "#332810"), ("#8f6a14", "#c79a3a"), "component", "", ("[[", "]]")),
        Shape::Cell => ("cell", ("#fce9f1", "#361a27"), ("#a83a6d", "#d9729f"), "folder", "", ("[/", "/]")),
        Shape::Item => ("item", ("#ffffff", "#1c222a"), ("#6e7781", "#8b949e"), "note", "", (">", "]")),
        Shape::Compaction => {
            ("compaction", ("#e9edf1", "#262d36"), ("#59636e", "#9198a1"), "box", "diagonals", ("[(", ")]"))
        }
        Shape::Folded => ("folded", ("#f0f2f4", "#222830"), ("#6e7781", "#8b949e"), "box3d", "", ("([", "])")),
        Shape::Missing => ("missing", ("#ffffff", "#0d1117"), ("#6e7781", "#8b949e"), "box", "dashed", ("[\\", "\\]")),
    };
    let fill = color(fill.0, fill.1);
    let border = color(border.0, border.1);
    NodeStyle { class, fill, border, dot_shape, dot_style, mermaid }
}

/// The head of an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Head {
    /// A filled triangle.
    Full,
    /// The outline of a triangle.
    Hollow,
    /// Two lines.
    Open,
    /// A bar.
    Bar,
}

impl Head {
    /// Returns its name in DOT.
    pub(crate) fn as_dot(self) -> &'static str {
        match self {
            Self::Full => "normal",
            Self::Hollow => "empty",
            Self::Open => "vee",
            Self::Bar => "tee",
        }
    }
}

/// The look of an arrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrowStyle {
    /// Class name in DOT and SVG.
    pub(crate) class: &'static str,
    pub(crate) color: Color,
    pub(crate) width: &'static str,
    pub(crate) dash: Dash,
    pub(crate) head: Head,
    /// The arrow in Mermaid.
    pub(crate) mermaid: &'static str,
}

/// Returns the look of an arrow. If the mark is bad, its colour replaces the colour of the style.
pub(crate) fn arrow(style: EdgeStyle, mark: Mark) -> ArrowStyle {
    let (class, fine, width, dash, head, mermaid) = match style {
        EdgeStyle::Spawn => ("spawn", ("#1f5fbf", "#6ba4f8"), "1.8", Dash::Solid, Head::Full, "==>"),
        EdgeStyle::Task => ("task", ("#6b3fb5", "#b08cf0"), "1.4", Dash::Solid, Head::Open, "-->"),
        EdgeStyle::Message => ("message", ("#0b6b7a", "#4fb8c9"), "1.4", Dash::Dashed, Head::Full, "-.->"),
        EdgeStyle::Result => ("result", ("#1a6e3c", "#4ac26b"), "1.6", Dash::Dotted, Head::Hollow, "-.->"),
        EdgeStyle::Close => ("close", ("#59636e", "#9198a1"), "1.4", Dash::Solid, Head::Bar, "--x"),
        EdgeStyle::Next => ("next", ("#7b858f", "#7d8590"), "1", Dash::Solid, Head::Open, "-->"),
        EdgeStyle::Cause => ("cause", ("#3b434b", "#c3ccd5"), "1.4", Dash::Solid, Head::Full, "-->"),
    };
    let color = border(mark, color(fine.0, fine.1)).color;
    ArrowStyle { class, color, width, dash, head, mermaid }
}

/// Puts the sign of a mark in front of the first line of a label.
pub(crate) fn with_sign(mark: Mark, mut lines: Vec<String>) -> Vec<String> {
    if let Some(sign) = mark.sign() {
        match lines.first_mut() {
            Some(first) => *first = format!("{sign} {first}"),
            None => lines.push(sign.to_owned()),
        }
    }
    lines
}

/// Returns the meanings of the signs in a diagram. `None` if it has no signs.
pub(crate) fn legend(diagram: &Diagram) -> Option<String> {
    let of_groups = diagram.groups.iter().map(|group| group.mark);
    let of_nodes = diagram.nodes.iter().map(|node| node.mark);
    let of_edges = diagram.edges.iter().map(|edge| edge.mark);
    let mut marks: Vec<Mark> = of_groups.chain(of_nodes).chain(of_edges).collect();
    marks.sort_unstable();
    marks.dedup();
    let said = marks.iter().filter_map(|mark| Some(format!("{} {}", mark.sign()?, mark.as_str())));
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(" · "))
}

/// Returns the style sheet for readers who prefer dark mode. The colours of the light picture are attributes of its
/// elements, so programs without support for style sheets show those.
///
/// The selectors use the classes that DOT writes into its SVG. The SVG of this crate uses the same classes.
pub(crate) fn dark_sheet() -> String {
    let mut sheet = String::from("@media (prefers-color-scheme:dark){");
    let mut rule = |text: std::fmt::Arguments<'_>| sheet.write_fmt(text).expect("writing to a string cannot fail");
    let lines = ":is(path,polygon,polyline,rect)";
    rule(format_args!(
        ".graph>:is(polygon,rect){{fill:{ground};stroke:{ground}}}text{{fill:{text}}}\
         .graph>text:not(.title),text.faint{{fill:{faint}}}.cluster {lines}{{fill:{group};stroke:{border}}}",
        ground = GROUND.dark,
        text = TEXT.dark,
        faint = FAINT_TEXT.dark,
        group = GROUP.dark,
        border = GROUP_BORDER.dark,
    ));
    for shape in Shape::ALL {
        let NodeStyle { class, fill, border, .. } = node(shape);
        rule(format_args!(".{class} {lines}{{fill:{};stroke:{}}}", fill.dark, border.dark));
    }
    for style in EdgeStyle::ALL {
        let ArrowStyle { class, color, .. } = arrow(style, Mark::Fine);
        rule(format_args!(
            ".{class} {lines}{{stroke:{color};fill:{color}}}.{class} text{{fill:{color}}}",
            color = color.dark,
        ));
    }
    for mark in Mark::ALL.into_iter().filter(|&mark| mark != Mark::Fine) {
        let color = border(mark, TEXT).color.dark;
        let class = mark.as_str();
        rule(format_args!(
            ":is(.node,.cluster,.edge).{class} {lines}{{stroke:{color}}}.edge.{class} polygon{{fill:{color}}}.edge.{class} text{{fill:{color}}}"
        ));
    }
    rule(format_args!("[fill=none]{{fill:none!important}}text[paint-order]{{stroke:{}}}", GROUND.dark));
    sheet.push('}');
    sheet
}

/// Returns how much wider than its text a node must be because of its shape, in the SVG of this crate.
pub(crate) fn extra_width(shape: Shape) -> i64 {
    match shape {
        Shape::Agent | Shape::Turn | Shape::Inference | Shape::Missing => 0,
        Shape::Item | Shape::Compaction => 10,
        Shape::Tool | Shape::Folded => 6,
        Shape::Cell => 12,
    }
}

/// Returns the direction of a picture for programs whose layout has only one. Agents are to the right of their parents.
/// What happened one after the other is placed from top to bottom, since there is more of it than fits into a row.
pub(crate) fn direction(view: View) -> &'static str {
    match view {
        View::Agents => "LR",
        View::Turns | View::Calls | View::Causal => "TB",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Least contrast of texts that WCAG requires at level AA.
    const TEXT_CONTRAST: f64 = 4.5;
    /// Least contrast of lines with a meaning that WCAG requires at level AA.
    const LINE_CONTRAST: f64 = 3.0;

    /// Returns the relative luminance of a colour as WCAG defines it.
    fn luminance(color: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&color[at..at + 2], 16).expect("a number")) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn assert_contrast(on: Color, ground: Color, least: f64) {
        for (on, ground) in [(on.light, ground.light), (on.dark, ground.dark)] {
            let (a, b) = (luminance(on), luminance(ground));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= least, "{on} on {ground} has a contrast of {contrast:.2}");
        }
    }

    #[test]
    fn texts_and_lines_can_be_told_from_their_ground() {
        for ground in Shape::ALL.map(|shape| node(shape).fill).into_iter().chain([GROUND, GROUP]) {
            assert_contrast(TEXT, ground, TEXT_CONTRAST);
            assert_contrast(FAINT_TEXT, ground, TEXT_CONTRAST);
        }
        for ground in [GROUND, GROUP] {
            for shape in Shape::ALL {
                assert_contrast(node(shape).border, ground, LINE_CONTRAST);
            }
            for mark in Mark::ALL {
                assert_contrast(border(mark, TEXT).color, ground, LINE_CONTRAST);
                for style in EdgeStyle::ALL {
                    // The label of an arrow has the colour of the arrow.
                    let least =
                        if style == EdgeStyle::Next && mark == Mark::Fine { LINE_CONTRAST } else { TEXT_CONTRAST };
                    assert_contrast(arrow(style, mark).color, ground, least);
                }
            }
        }
    }

    #[test]
    fn nothing_is_told_by_colour_alone() {
        let borders =
            Mark::ALL.map(|mark| border(mark, TEXT)).map(|border| (border.width, border.dash.as_dot(), border.lines));
        assert_eq!(HashSet::from(borders).len(), Mark::ALL.len());
        assert_eq!(HashSet::from(Mark::ALL.map(Mark::sign)).len(), Mark::ALL.len());
        let arrows = EdgeStyle::ALL.map(|style| arrow(style, Mark::Fine));
        let arrows = arrows.map(|look| (look.width, look.dash.as_dot(), look.head.as_dot()));
        assert_eq!(HashSet::from(arrows).len(), EdgeStyle::ALL.len());
    }
}
