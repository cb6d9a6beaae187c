//! Spreadsheets: the rows of every sheet that is shown, with tabs between cells.

use std::fmt::Write as _;
use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader as _, SheetVisible, Xlsx};

use super::{MAX_TEXT, cut_off, part};

/// Rows of one sheet shown.
const MAX_ROWS: u32 = 5_000;

/// Columns of one row shown.
const MAX_COLUMNS: u32 = 256;

/// The text of a workbook.
pub(super) fn text(bytes: Vec<u8>) -> Option<String> {
    // The words of all cells are unpacked at once when a workbook is opened.
    let words = "xl/sharedStrings.xml";
    let has_words = zip::ZipArchive::new(Cursor::new(&bytes)).ok()?.index_for_name(words).is_some();
    if has_words && part(&bytes, words).is_none() {
        return None;
    }
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).ok()?;
    let visible = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible;
    let names: Vec<String> =
        book.sheets_metadata().iter().filter(visible).map(|it| it.name.clone()).collect();
    let mut text = String::new();
    for name in names {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "## Sheet: {name}");
        rows(&mut book, &name, &mut text)?;
        text.push('\n');
        if text.len() > MAX_TEXT {
            cut_off(&mut text);
            break;
        }
    }
    Some(text)
}

/// Writes the rows of one sheet; cells come one by one, so that a far-off cell costs nothing.
fn rows(book: &mut Xlsx<Cursor<Vec<u8>>>, name: &str, text: &mut String) -> Option<()> {
    let mut cells = book.worksheet_cells_reader(name).ok()?;
    let (mut at, mut shown): (Option<(u32, u32)>, u32) = (None, 0);
    while let Some(cell) = cells.next_cell().ok()? {
        let (row, column) = cell.get_position();
        let value = written(cell.get_value());
        if value.is_empty() || column >= MAX_COLUMNS {
            continue;
        }
        let last = match at {
            Some((last_row, last)) if last_row == row => last,
            _ => {
                if shown == MAX_ROWS || text.len() > MAX_TEXT {
                    text.push_str("\n[more rows are left out]");
                    break;
                }
                if at.is_some() {
                    text.push('\n');
                }
                shown += 1;
                0
            }
        };
        text.extend(std::iter::repeat_n('\t', usize::try_from(column.saturating_sub(last)).unwrap_or(0)));
        text.push_str(&value);
        at = Some((row, column));
    }
    text.push('\n');
    Some(())
}

fn written(value: &DataRef<'_>) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number.to_string(),
        DataRef::String(text) => one_line(text),
        DataRef::SharedString(text) => one_line(text),
        DataRef::Bool(truth) => if *truth { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(time) => date(*time),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

fn date(time: ExcelDateTime) -> String {
    if !time.is_datetime() {
        return time.as_f64().to_string();
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    if (hour, minute, second) == (0, 0, 0) {
        return format!("{year:04}-{month:02}-{day:02}");
    }
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::write::SimpleFileOptions;

    use super::*;

    fn book(sheet: &str) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let parts = [
            (
                "[Content_Types].xml",
                "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".to_owned(),
            ),
            (
                "_rels/.rels",
                "<Relationships><Relationship Id=\"r0\" Type=\"http://schemas.openxmlformats.org/officeDocument/\
                 2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
                    .to_owned(),
            ),
            (
                "xl/workbook.xml",
                "<workbook xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
                 <sheet name=\"Shown\" sheetId=\"1\" r:id=\"r1\"/>\
                 <sheet name=\"Not\" sheetId=\"2\" state=\"hidden\" r:id=\"r1\"/></sheets></workbook>"
                    .to_owned(),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                "<Relationships><Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/\
                 2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
                    .to_owned(),
            ),
            ("xl/sharedStrings.xml", "<sst><si><t>name</t></si><si><t>two\nlines</t></si></sst>".to_owned()),
            ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>")),
        ];
        for (name, text) in parts {
            archive.start_file(name, SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn rows_of_visible_sheets_are_written_with_tabs() {
        let sheet = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\"><v>1.5</v></c></row>\
                     <row r=\"1048576\"><c r=\"B1048576\" t=\"s\"><v>1</v></c><c r=\"XFD1048576\"><v>9</v></c></row>";

        assert_eq!(text(book(sheet)).unwrap(), "## Sheet: Shown\nname\t\t1.5\n\ttwo lines\n\n");
    }
}
