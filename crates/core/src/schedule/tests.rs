//! Schedules against known days, and against a scan that looks at every minute.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use proptest::prelude::*;

use super::*;

fn cron(text: &str) -> CronExpr {
    CronExpr::parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"))
}

fn at(text: &str) -> Timestamp {
    moment(text, &TimeZone::UTC).unwrap_or_else(|| panic!("{text}"))
}

/// The next times after a moment, as the clock of the zone shows them.
fn run(expression: &str, zone_name: &str, after: &str, count: usize) -> Vec<String> {
    let (expression, zone) = (cron(expression), zone(zone_name).unwrap());
    let mut time = moment(after, &zone).unwrap();
    let mut next = || {
        time = expression.next(time, &zone).unwrap();
        written(time, &zone)
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn names_ranges_steps_and_lists_are_read() {
    for (text, numeric) in [
        ("*/15 9-17 * jan,JUL mon-Fri", "*/15 9-17 * 1,7 1-5"),
        ("@daily", "0 0 * * *"),
        ("@Annually", "0 0 1 1 *"),
        ("5/20 0 1-7/2 * sunday", "5-59/20 0 1-7/2 * 0"),
        ("0 0 ? * 7", "0 0 * * 7"),
    ] {
        assert_eq!(cron(text).numeric(), numeric, "{text}");
        let again = cron(numeric);
        let start = at("2026-11-16T00:00:00Z");
        assert_eq!(
            again.next(start, &TimeZone::UTC),
            cron(text).next(start, &TimeZone::UTC),
            "{text}: the numbers mean the same"
        );
    }
}

#[test]
fn what_is_wrong_is_told_with_its_field() {
    for (text, words) in [
        ("60 * * * *", "the minute field `60` has 60, which is not from 0 to 59"),
        ("0 0 0 * *", "the day of the month field `0`"),
        ("0 0 * foo *", "has `foo`, which is no number or a name"),
        ("0 5-2 * * *", "goes backwards from 5 to 2"),
        ("*/0 * * * *", "a step of 0"),
        ("1,,2 * * * *", "lacks a number"),
        ("0 0 * *", "has 4 fields"),
        ("0 0 0 * * *", "has 6 fields"),
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 feb,apr,jun,sep,nov *", "never comes"),
        ("@reboot", "is no schedule"),
        ("-1 * * * *", "lacks a number"),
        ("+1 * * * *", "is no number"),
    ] {
        let told = CronExpr::parse(text).unwrap_err().to_string();
        assert!(told.contains(words), "{text}: {told}");
    }
}

#[test]
fn both_kinds_of_days_mean_either_of_them() {
    let times = run("0 12 13 * fri", "UTC", "2026-11-10T00:00:00Z", 4);

    let days: Vec<&str> = times.iter().filter_map(|time| time.split('T').next()).collect();
    assert_eq!(days, ["2026-11-13", "2026-11-20", "2026-11-27", "2026-12-04"]);
}

#[test]
fn a_day_that_comes_every_four_or_eight_years_is_found() {
    assert_eq!(run("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), ["2104-02-29T00:00:00+00:00"]);
    assert_eq!(run("0 0 29 2 */7", "UTC", "2026-01-01T00:00:00Z", 1), ["2032-02-29T00:00:00+00:00"]);
}

#[test]
fn a_daily_job_runs_once_on_the_day_the_clock_is_put_forward() {
    let times = run("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", 3);

    assert_eq!(
        times,
        ["2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    );
}

#[test]
fn a_daily_job_runs_once_on_the_day_the_clock_is_put_back() {
    let times = run("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", 2);

    assert_eq!(times, ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]);
}

#[test]
fn several_skipped_times_are_made_up_for_by_one_run() {
    let times = run("0,15,30 2 * * *", "America/New_York", "2026-03-08T00:00", 2);

    assert_eq!(times, ["2026-03-08T03:00:00-04:00", "2026-03-09T02:00:00-04:00"]);
}

#[test]
fn an_hourly_job_goes_by_the_time_that_passes() {
    let forward = run("15 * * * *", "Europe/Berlin", "2026-03-29T01:00", 2);
    let back = run("15 * * * *", "Europe/Berlin", "2026-10-25T01:00", 4);

    assert_eq!(forward, ["2026-03-29T01:15:00+01:00", "2026-03-29T03:15:00+02:00"]);
    assert_eq!(
        back,
        [
            "2026-10-25T01:15:00+02:00",
            "2026-10-25T02:15:00+02:00",
            "2026-10-25T02:15:00+01:00",
            "2026-10-25T03:15:00+01:00"
        ]
    );
}

#[test]
fn a_day_that_a_country_left_out_is_made_up_for() {
    let times = run("0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00", 2);

    assert_eq!(times, ["2011-12-31T00:00:00+14:00", "2012-12-30T09:00:00+14:00"]);
}

#[test]
fn what_people_write_is_read() {
    let now = at("2026-11-16T10:00:00Z");
    let berlin = zone("Europe/Berlin").unwrap();
    let read = |text: &str| parse(text, now, &berlin).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));

    assert_eq!(read("30m").schedule, Schedule::Once(at("2026-11-16T10:30:00Z")));
    assert_eq!(read("in 2 hours").schedule, Schedule::Once(at("2026-11-16T12:00:00Z")));
    assert_eq!(read("every 2h").schedule, Schedule::Every(120));
    assert_eq!(read("every 1h30m").display, "every 90m");
    assert_eq!(read("Every 2 Days").schedule, Schedule::Every(2880));
    assert_eq!(read("2027-01-31T09:00").schedule, Schedule::Once(at("2027-01-31T08:00:00Z")));
    assert_eq!(read("2027-01-31 09:00").display, "once at 2027-01-31 09:00");
    assert_eq!(read("2027-01-31T09:00-05:00").schedule, Schedule::Once(at("2027-01-31T14:00:00Z")));
    assert_eq!(read("2027-01-31").schedule, Schedule::Once(at("2027-01-30T23:00:00Z")));
    // Just over, because the sentence took a while.
    assert!(matches!(read("2026-11-16T09:59:00Z").schedule, Schedule::Once(_)));
    let named = read("TZ=Asia/Tokyo 0 9 * * *");
    assert_eq!((named.zone.as_deref(), named.display.as_str()), (Some("Asia/Tokyo"), "0 9 * * *"));
}

#[test]
fn what_cannot_be_read_is_told() {
    let now = at("2026-11-16T10:00:00Z");
    let told = |text: &str| parse(text, now, &TimeZone::UTC).unwrap_err().to_string();

    for text in ["", "soon", "every", "every soon", "5", "30s", "every 30s", "2027-13-01", "1h every"] {
        assert!(
            told(text).contains("is no schedule") || told(text).contains("fields"),
            "{text}: {}",
            told(text)
        );
    }
    assert!(told("0m").contains("shorter than a minute"));
    assert!(told("99999999999d").contains("longer than ten years"));
    assert!(told("999999999999999999999999d").contains("too long"));
    assert!(told("2026-11-16T09:00:00Z").contains("is over"));
    assert!(told("TZ=Europe/Berln 0 9 * * *").contains("did you mean Europe/Berlin?"));
}

#[test]
fn a_time_that_has_come_runs_and_the_next_one_follows() {
    let (schedule, zone) = (Schedule::Every(60), TimeZone::UTC);
    let came = due(&schedule, &zone, at("2026-11-16T10:00:00Z"), at("2026-11-16T10:00:30Z"), Misfire::Grace);

    assert_eq!(came.run, [at("2026-11-16T10:00:00Z")]);
    assert_eq!((came.missed, came.next), (None, Some(at("2026-11-16T11:00:00Z"))));
    let early = due(&schedule, &zone, at("2026-11-16T10:00:00Z"), at("2026-11-16T09:00:00Z"), Misfire::Grace);
    assert_eq!((early.run.len(), early.next), (0, Some(at("2026-11-16T10:00:00Z"))));
}

#[test]
fn each_rule_makes_something_else_of_three_missed_days() {
    let schedule = Schedule::Cron(Box::new(cron("0 9 * * *")));
    let (first, zone) = (at("2026-11-13T09:00:00Z"), TimeZone::UTC);
    let decide = |now: &str, rule| {
        let came = due(&schedule, &zone, first, at(now), rule);
        assert_eq!(came.next, Some(at("2026-11-17T09:00:00Z")));
        (came.run.len(), came.missed.map_or(0, |missed| missed.count))
    };

    assert_eq!(decide("2026-11-16T10:00:00Z", Misfire::Grace), (1, 3));
    assert_eq!(decide("2026-11-16T12:00:00Z", Misfire::Grace), (0, 4));
    assert_eq!(decide("2026-11-16T09:01:00Z", Misfire::Skip), (1, 3));
    assert_eq!(decide("2026-11-16T09:03:00Z", Misfire::Skip), (0, 4));
    assert_eq!(decide("2026-11-16T23:00:00Z", Misfire::RunOnce), (1, 3));
    assert_eq!(decide("2026-11-16T23:00:00Z", Misfire::CatchUp), (4, 0));
}

#[test]
fn something_that_comes_once_is_made_up_for_unless_it_must_not_be_late() {
    let moment = at("2026-11-16T09:00:00Z");
    let decide =
        |rule| due(&Schedule::Once(moment), &TimeZone::UTC, moment, at("2026-11-19T09:00:00Z"), rule);

    assert_eq!((decide(Misfire::Grace).run.len(), decide(Misfire::Grace).next), (1, None));
    assert_eq!(decide(Misfire::Skip).run.len(), 0);
    assert_eq!(decide(Misfire::Skip).missed.map(|missed| missed.count), Some(1));
}

#[test]
fn a_year_of_missed_minutes_is_decided_soon_and_ends_now() {
    let (first, now) = (at("2025-11-16T00:00:00Z"), at("2026-11-16T00:00:30Z"));
    for schedule in [Schedule::Every(1), Schedule::Cron(Box::new(cron("* * * * *")))] {
        let came = due(&schedule, &TimeZone::UTC, first, now, Misfire::Grace);

        assert_eq!(came.run, [at("2026-11-16T00:00:00Z")]);
        assert_eq!(came.next, Some(at("2026-11-16T00:01:00Z")));
        assert!(came.missed.is_some_and(|missed| missed.first == first && missed.count >= 10_000));
        assert_eq!(due(&schedule, &TimeZone::UTC, first, now, Misfire::CatchUp).run.len(), MOST_CAUGHT_UP);
    }
}

#[test]
fn rules_are_read_by_their_words() {
    for rule in Misfire::ALL {
        assert_eq!(rule.word().parse(), Ok(rule));
    }
    assert_eq!("catch-up".parse(), Ok(Misfire::CatchUp));
    assert!("never".parse::<Misfire>().is_err());
}

/// Whether an expression fires at a minute, straight from the rules.
fn fires(expression: &CronExpr, second: i64, zone: &TimeZone) -> bool {
    let (time, before) = (stamp(second), stamp(second - 1));
    let (offset, offset_before) = (seconds(zone, time), seconds(zone, before));
    let local = wall(second, offset);
    let fits = |local: DateTime| {
        local.second() == 0
            && expression.fits_date(local.date())
            && expression.minute_from(minute_of(local)) == Some(minute_of(local))
    };
    if expression.every_hour() {
        return fits(local);
    }
    let skipped = (second + offset_before..second + offset).filter(|local| local % 60 == 0);
    let jumped = offset > offset_before && skipped.into_iter().any(|local| fits(wall(local, 0)));
    // Shown before: some earlier moment of the last day had the same time on the wall.
    let again = || {
        (1..=1440).any(|minutes| {
            let earlier = second - minutes * 60;
            earlier + seconds(zone, stamp(earlier)) == second + offset
        })
    };
    jumped || fits(local) && !again()
}

fn stamp(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn seconds(zone: &TimeZone, at: Timestamp) -> i64 {
    i64::from(zone.to_offset(at).seconds())
}

fn wall(second: i64, offset: i64) -> DateTime {
    Offset::UTC.to_datetime(stamp(second + offset))
}

fn minute_of(local: DateTime) -> u32 {
    u32::from(local.hour().unsigned_abs()) * 60 + u32::from(local.minute().unsigned_abs())
}

fn field(low: u32, high: u32) -> impl Strategy<Value = String> {
    let number = low..=high;
    prop_oneof![
        3 => Just("*".to_owned()),
        2 => number.clone().prop_map(|one| one.to_string()),
        1 => (number.clone(), number.clone()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (1..=high).prop_map(|step| format!("*/{step}")),
        1 => (number.clone(), number).prop_map(|(a, b)| format!("{a},{b}")),
    ]
}

/// Expressions that come often enough for a scan of a few days to meet them.
fn expressions() -> impl Strategy<Value = String> {
    (field(0, 59), field(0, 23), field(0, 6))
        .prop_map(|(minute, hour, weekday)| format!("{minute} {hour} * * {weekday}"))
}

const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Kathmandu",
];

/// Days around which the clocks of the zones above are changed, and others.
const DAYS: &[&str] = &[
    "2026-03-28T12:07:00Z",
    "2026-10-24T12:59:00Z",
    "2026-03-07T20:00:00Z",
    "2026-10-31T23:30:00Z",
    "2026-04-04T10:00:00Z",
    "2026-10-03T10:00:00Z",
    "2026-02-14T20:00:00Z",
    "2026-03-22T00:10:00Z",
    "2026-07-01T00:00:00Z",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_next_time_is_the_one_a_scan_of_every_minute_finds(
        text in expressions(),
        zone_at in 0..ZONES.len(),
        day in 0..DAYS.len(),
        shift in 0_i64..36 * 60,
    ) {
        let (expression, zone) = (cron(&text), zone(ZONES[zone_at]).unwrap());
        let from = at(DAYS[day]).as_second() + shift * 60;
        let found = (1..3 * 1440).map(|minutes| from + minutes * 60).find(|second| fires(&expression, *second, &zone));
        let next = expression.next(stamp(from), &zone).map(Timestamp::as_second);

        match found {
            Some(found) => prop_assert_eq!(next, Some(found), "{} in {}", text, ZONES[zone_at]),
            None => prop_assert!(next.is_none_or(|next| next >= from + 3 * 1440 * 60)),
        }
    }

    #[test]
    fn times_only_go_forward_and_never_depend_on_where_one_starts(
        text in expressions(),
        zone_at in 0..ZONES.len(),
        start in 1_500_000_000_i64..2_500_000_000,
        between in 1_i64..1_000_000,
    ) {
        let (expression, zone) = (cron(&text), zone(ZONES[zone_at]).unwrap());
        let one = expression.next(stamp(start), &zone).unwrap();
        let later = expression.next(stamp(start + between), &zone).unwrap();

        prop_assert!(one > stamp(start) && later > stamp(start + between));
        prop_assert!(one <= later);
        if one > stamp(start + between) {
            prop_assert_eq!(one, later);
        }
    }

    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,40}") {
        let _ = parse(&text, at("2026-11-16T10:00:00Z"), &TimeZone::UTC);
    }

    #[test]
    fn every_missed_time_is_run_or_told(
        minutes in 1_u64..5_000,
        late in 0_i64..600_000,
        rule_at in 0..4_usize,
    ) {
        let (first, rule) = (at("2026-01-01T00:00:00Z"), Misfire::ALL[rule_at]);
        let now = stamp(first.as_second() + late);
        let came = due(&Schedule::Every(minutes), &TimeZone::UTC, first, now, rule);

        let all = 1 + late.unsigned_abs() / (minutes * 60);
        let told = came.missed.map_or(0, |missed| missed.count) + came.run.len() as u64;
        prop_assert_eq!(told.min(10_000), all.min(10_000));
        prop_assert!(came.next.is_some_and(|next| next > now));
        prop_assert!(came.run.is_sorted() && came.run.iter().all(|time| *time <= now));
    }
}
