//! `defs`: the definitions a model is told, for the first time, again, and from the cache.

use hermes_core::availability::Change;

use crate::item::{ItemDef, Numbers, Work};
use crate::process::peak_mb;
use crate::timing::{micros, millis, per_call, timed};

pub(crate) const ITEM: ItemDef = ItemDef::new("defs", measure);

fn measure(work: &Work) -> Result<Numbers, String> {
    let runtime = work.runtime(&ITEM)?;
    let session = runtime.session().open().map_err(|wrong| wrong.to_string())?;
    let (toolbox, first) = timed(|| {
        let toolbox = session.toolbox_blocking();
        std::hint::black_box(toolbox.json().len());
        toolbox
    });
    let (_, second) = timed(|| session.toolbox_blocking());
    let rss_mb = peak_mb()?;
    let hit = per_call(2_000, || {
        std::hint::black_box(session.toolbox_blocking());
        Ok(())
    })?;
    let miss = per_call(20, || {
        runtime.announce(&Change::Config);
        std::hint::black_box(session.toolbox_blocking().json().len());
        Ok(())
    })?;
    // The text is there already; what a request pays is a copy of it.
    let written = per_call(500, || {
        std::hint::black_box(toolbox.json().to_string());
        Ok(())
    })?;
    Ok(vec![
        ("first_ms", millis(first)),
        ("second_us", micros(second)),
        ("cache_hit_us", micros(hit)),
        ("cache_miss_ms", millis(miss)),
        ("tools", count(toolbox.offered().len())),
        ("registered", count(runtime.tools().tools().count())),
        ("json_bytes", count(toolbox.json().len())),
        ("serialize_us", micros(written)),
        ("rss_mb", rss_mb),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "counts of tools and bytes are small")]
fn count(number: usize) -> f64 {
    number as f64
}
