//! What all plots share: canvas, colours, markers and legend.

use super::axis::Axis;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Why a plot could not be drawn.
pub type Fault = DrawingAreaErrorKind<std::io::Error>;
/// The whole of a plot, in pixels from its upper left corner.
pub type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A plot's inside, in its own units.
pub type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// Height of a line of the legend, pixels.
pub const LINE: i32 = 20;
/// Size of the text, as plotters has it: it writes four fifths of that, 13 pixels.
pub const TEXT: i32 = 16;
/// Width of a character, pixels, estimated: fonts are the viewer's.
const CHARACTER: i32 = 7;

/// Okabe and Ito's colours for all kinds of colour vision (Color Universal Design, 2008), those of the first policies the furthest apart in grey, too. Yellow is too faint on white.
pub const COLOURS: [RGBColor; 7] = [
    BLACK,
    RGBColor(230, 159, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
];

/// The colour of the nth policy.
pub fn colour(nth: usize) -> RGBColor {
    COLOURS[nth % COLOURS.len()]
}

/// Draws a plot on white. Its SVG: text stays text, in whatever font without serifs there is.
pub fn svg(size: (u32, u32), draw: impl FnOnce(&Canvas<'_>) -> Result<(), Fault>) -> Result<String, Fault> {
    let mut text = String::new();
    {
        let canvas = SVGBackend::with_string(&mut text, size).into_drawing_area();
        canvas.fill(&WHITE)?;
        draw(&canvas)?;
        canvas.present()?;
    }
    Ok(text)
}

/// Text without what XML cannot hold.
pub fn clean(text: &str) -> String {
    let is_bad = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if is_bad(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What stands around a plot.
pub struct Frame<'a> {
    /// Above it.
    pub title: &'a str,
    /// Below it, with the unit.
    pub x_title: &'a str,
    /// At its left, with the unit; empty for none.
    pub y_title: &'a str,
    /// Room at its left, pixels.
    pub left: i32,
}

/// Draws axes and titles on a canvas, or on a part of one.
pub fn chart<'a, 'b>(canvas: &'a Canvas<'b>, frame: &Frame<'_>, x: Axis, y: Axis) -> Result<Chart<'a, 'b>, Fault> {
    canvas.draw(&label(frame.title, (12, 10), HPos::Left, BLACK, TEXT + 2))?;
    let mut builder = ChartBuilder::on(canvas);
    builder.margin_top(LINE + 14).margin_right(24).margin_bottom(4).margin_left(4);
    builder.x_label_area_size(44).y_label_area_size(frame.left);
    let mut chart = builder.build_cartesian_2d(x.clone(), y.clone())?;
    let (of_x, of_y) = (|at: &f64| x.name(at), |at: &f64| y.name(at));
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(frame.x_title).x_label_formatter(&of_x).y_label_formatter(&of_y);
    mesh.label_style(("sans-serif", TEXT))
        .axis_desc_style(("sans-serif", TEXT))
        .bold_line_style(RGBColor(225, 225, 225));
    if !frame.y_title.is_empty() {
        mesh.y_desc(frame.y_title);
    }
    mesh.draw()?;
    Ok(chart)
}

/// Text whose middle line runs through a point.
pub fn label<'a>(text: &str, at: (i32, i32), side: HPos, colour: RGBColor, size: i32) -> Text<'a, (i32, i32), String> {
    let font = ("sans-serif", size).into_font();
    let style = TextStyle { font, color: colour.to_backend_color(), pos: Pos::new(side, VPos::Center) };
    Text::new(clean(text), at, style)
}

/// About how wide a text is, pixels.
pub fn width(text: &str) -> i32 {
    CHARACTER * i32::try_from(text.chars().count()).unwrap_or(i32::MAX / CHARACTER)
}

/// Puts a policy's mark on a point: by its shape as well as by its colour, for those who print in grey.
pub fn mark(canvas: &Canvas<'_>, (x, y): (i32, i32), nth: usize) -> Result<(), Fault> {
    let style = ShapeStyle::from(colour(nth)).filled();
    match nth % 4 {
        0 => canvas.draw(&Circle::new((x, y), 4, style)),
        1 => canvas.draw(&TriangleMarker::new((x, y), 6, style)),
        2 => canvas.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], style)),
        _ => canvas.draw(&Cross::new((x, y), 5, ShapeStyle::from(colour(nth)).stroke_width(2))),
    }
}

/// Where the entries of a legend stand, from the upper left corner, in as many lines as their names need; and how high that is. Pixels.
pub fn legend(names: &[String], room: i32) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut y, mut places) = (16, LINE / 2, Vec::new());
    for name in names {
        let wide = width(name) + 36;
        if x > 16 && x + wide > room {
            (x, y) = (16, y + LINE);
        }
        places.push((x, y));
        x += wide;
    }
    (places, y + LINE / 2)
}

/// Draws the legend of policies at the top of a canvas of that width; how high it is.
pub fn policies(canvas: &Canvas<'_>, names: &[(usize, String)], room: i32) -> Result<i32, Fault> {
    let (places, height) = legend(&names.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>(), room);
    for ((nth, name), (x, y)) in names.iter().zip(places) {
        let line = ShapeStyle::from(colour(*nth)).stroke_width(2);
        canvas.draw(&PathElement::new([(x - 8, y), (x + 8, y)], line))?;
        mark(canvas, (x, y), *nth)?;
        canvas.draw(&label(name, (x + 14, y), HPos::Left, BLACK, TEXT))?;
    }
    Ok(height)
}

/// How bright a colour is in print without colours, 0–255 (ITU-R BT.601).
#[cfg(test)]
pub fn grey(RGBColor(red, green, blue): RGBColor) -> f64 {
    0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_the_first_policies_differ_in_grey() {
        for (nth, one) in COLOURS[..4].iter().enumerate() {
            assert!(COLOURS[..nth].iter().all(|other| (grey(*one) - grey(*other)).abs() > 25.0), "{one:?}");
        }
    }

    #[test]
    fn no_two_of_all_policies_look_alike() {
        let looks: std::collections::BTreeSet<_> = (0..28).map(|nth| (nth % COLOURS.len(), nth % 4)).collect();
        assert_eq!(looks.len(), 28);
    }

    #[test]
    fn a_legend_takes_another_line_where_one_is_full() {
        let (places, height) = legend(&["a".repeat(20), "b".repeat(20), "c".into()], 380);
        assert_eq!((places, height), (vec![(16, 10), (192, 10), (16, 30)], 40));
    }

    #[test]
    fn names_that_xml_cannot_hold_are_mended() {
        assert_eq!(clean("a\u{1}<b>\n"), "a\u{fffd}<b>\n");
    }
}
