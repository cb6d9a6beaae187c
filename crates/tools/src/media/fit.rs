//! Pictures as models take them: of a kind that they know, and no larger than they may be.
//!
//! What fits is left as it is, byte for byte. Anything else is decoded, within limits, made smaller and
//! written anew. Pure work of some milliseconds to seconds: not for the threads that wait.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage};

use crate::pictures;

/// Most bytes of a picture: five megabytes as it is sent, in base64.
pub(crate) const MOST_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;

/// Longest side, in dots.
pub(crate) const LONGEST_SIDE: u32 = 7_900;

/// Most memory that a picture may take when it is unpacked, and longest side of what is tried at all.
const MEMORY: u64 = 512 * 1024 * 1024;
const UNPACKED_SIDE: u32 = 60_000;

/// How good a JPEG file is, of 100.
const QUALITY: u8 = 85;

/// How often a picture is made smaller still.
const TRIES: usize = 6;

/// A picture that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) bytes: Vec<u8>,
    pub(crate) media_type: &'static str,
    /// How large it was, if it was made smaller.
    pub(crate) was: Option<(u32, u32)>,
}

/// The picture as it can be shown, or why it cannot.
pub(crate) fn fit(bytes: Vec<u8>, media_type: &'static str) -> Result<Fit, String> {
    let is_short = pictures::size(&bytes).is_none_or(|(width, height)| width.max(height) <= LONGEST_SIDE);
    if pictures::can_be_shown(media_type) && is_short && bytes.len() <= MOST_BYTES {
        return Ok(Fit { bytes, media_type, was: None });
    }
    let format = ImageFormat::from_mime_type(media_type).filter(ImageFormat::reading_enabled);
    let format = format
        .ok_or_else(|| format!("{media_type} cannot be shown to models; make a PNG or JPEG file of it"))?;
    let picture = decoded(&bytes, format).map_err(|why| format!("the picture cannot be read: {why}"))?;
    smaller(&picture, format == ImageFormat::Jpeg, MOST_BYTES)
}

/// The picture as its dots, the right way up.
fn decoded(bytes: &[u8], format: ImageFormat) -> image::ImageResult<DynamicImage> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(UNPACKED_SIDE);
    limits.max_image_height = Some(UNPACKED_SIDE);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    // How a camera was held is told beside the dots, and is lost when they are written anew.
    let turned = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(turned);
    Ok(picture)
}

/// Written anew, in as many steps as it takes until it fits.
fn smaller(picture: &DynamicImage, is_photo: bool, most: usize) -> Result<Fit, String> {
    let was = (picture.width(), picture.height());
    let mut side = was.0.max(was.1).min(LONGEST_SIDE);
    for _ in 0..TRIES {
        let scaled = scaled(picture, side);
        let (bytes, media_type) = written(scaled.as_ref().unwrap_or(picture), is_photo, most)?;
        if bytes.len() <= most {
            let was = scaled.map(|_| was);
            return Ok(Fit { bytes, media_type, was });
        }
        side = next_side(side, bytes.len(), most);
    }
    Err(format!("a picture of {} × {} dots cannot be made small enough to be shown", was.0, was.1))
}

/// With this longest side; nothing when it is no longer than that.
fn scaled(picture: &DynamicImage, side: u32) -> Option<DynamicImage> {
    let longest = picture.width().max(picture.height());
    (longest > side).then(|| picture.resize(side, side, FilterType::Triangle))
}

/// The side at which a file of this size would be small enough, with something to spare.
fn next_side(side: u32, size: usize, most: usize) -> u32 {
    let share = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    let wanted = f64::from(side) * (share(most) / share(size)).sqrt() * 0.9;
    // Always smaller, never nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 1 and side")]
    let wanted = wanted.clamp(1.0, f64::from(side)) as u32;
    wanted.min(side.saturating_sub(1)).max(1)
}

/// As a file: every dot as it is where that is small enough, else as a photo.
fn written(picture: &DynamicImage, is_photo: bool, most: usize) -> Result<(Vec<u8>, &'static str), String> {
    let failed = |why: image::ImageError| format!("the picture cannot be written: {why}");
    if !is_photo {
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, ImageFormat::Png).map_err(failed)?;
        if png.get_ref().len() <= most {
            return Ok((png.into_inner(), "image/png"));
        }
    }
    let mut jpeg = Vec::new();
    on_white(picture)
        .write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, QUALITY))
        .map_err(failed)?;
    Ok((jpeg, "image/jpeg"))
}

/// Without holes: a photo has none, and what was behind them would come out black.
fn on_white(picture: &DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return DynamicImage::ImageRgb8(picture.to_rgb8());
    }
    let dots = picture.to_rgba8();
    let mut flat = RgbImage::new(dots.width(), dots.height());
    for (into, from) in flat.pixels_mut().zip(dots.pixels()) {
        let [red, green, blue, alpha] = from.0;
        let over = |part: u8| {
            let mixed = u32::from(part) * u32::from(alpha) + 255 * (255 - u32::from(alpha));
            u8::try_from(mixed / 255).unwrap_or(u8::MAX)
        };
        *into = Rgb([over(red), over(green), over(blue)]);
    }
    DynamicImage::ImageRgb8(flat)
}

#[cfg(test)]
mod tests {
    use image::Rgba;
    use proptest::prelude::*;

    use super::*;

    fn file(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// A picture that cannot be packed well.
    fn noise(width: u32, height: u32) -> DynamicImage {
        let mut state = 7_u32;
        let dots = RgbImage::from_fn(width, height, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b, c, _] = state.to_be_bytes();
            Rgb([a, b, c])
        });
        DynamicImage::ImageRgb8(dots)
    }

    #[test]
    fn what_fits_is_left_as_it_is() {
        let png = file(&noise(8, 8), ImageFormat::Png);

        assert_eq!(
            fit(png.clone(), "image/png").unwrap(),
            Fit { bytes: png, media_type: "image/png", was: None }
        );
    }

    #[test]
    fn a_side_that_is_too_long_becomes_shorter() {
        let wide = file(&DynamicImage::new_rgb8(9_000, 20), ImageFormat::Png);

        let fitting = fit(wide, "image/png").unwrap();

        assert_eq!((fitting.media_type, fitting.was), ("image/png", Some((9_000, 20))));
        assert_eq!(pictures::size(&fitting.bytes), Some((7_900, 18)));
    }

    #[test]
    fn kinds_that_models_do_not_know_become_one_that_they_do() {
        for (format, kind) in [(ImageFormat::Bmp, "image/bmp"), (ImageFormat::Tiff, "image/tiff")] {
            let fitting = fit(file(&noise(6, 4), format), kind).unwrap();

            assert_eq!((fitting.media_type, fitting.was), ("image/png", None), "{kind}");
            assert_eq!(pictures::size(&fitting.bytes), Some((6, 4)), "{kind}");
        }
        assert!(fit(b"<svg/>".to_vec(), "image/svg+xml").unwrap_err().contains("image/svg+xml"));
        assert!(fit(b"BM nonsense".to_vec(), "image/bmp").unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn what_cannot_be_packed_becomes_a_photo_and_then_a_smaller_one() {
        let picture = noise(200, 100);

        let photo = smaller(&picture, false, 40_000).unwrap();
        let small = smaller(&picture, false, 6_000).unwrap();

        assert_eq!((photo.media_type, photo.was), ("image/jpeg", None));
        assert_eq!((small.media_type, small.was), ("image/jpeg", Some((200, 100))));
        let (width, height) = pictures::size(&small.bytes).unwrap();
        assert!(small.bytes.len() <= 6_000 && width < 200 && width == 2 * height, "{width} × {height}");
        assert!(smaller(&picture, false, 10).is_err());
    }

    #[test]
    fn holes_become_white() {
        let picture = DynamicImage::ImageRgba8(image::RgbaImage::from_pixel(4, 4, Rgba([0, 0, 0, 0])));

        assert_eq!(on_white(&picture).to_rgb8().get_pixel(1, 1), &Rgb([255, 255, 255]));
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_an_answer(
            kind in prop::sample::select(vec!["image/png", "image/gif", "image/bmp", "image/tiff", "image/webp"]),
            head in prop::sample::select(vec![&b""[..], b"BM", b"II*\0", b"GIF89a\xFF\xFF\xFF\xFF", b"RIFF\xFF\0\0\0WEBPVP8X"]),
            rest in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let bytes = [head, &rest].concat();
            let _ = fit(bytes.clone(), kind);
            let _ = decoded(&bytes, ImageFormat::from_mime_type(kind).unwrap());
        }
    }
}
