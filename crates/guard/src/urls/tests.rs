//! What the URL policy answers, trick by trick, and what holds for every text.

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

fn open() -> UrlPolicy {
    UrlPolicy::default()
}

fn private() -> UrlPolicy {
    UrlPolicy { allow_private: true, ..UrlPolicy::default() }
}

#[track_caller]
fn refused(texts: &[&str]) {
    for text in texts {
        assert!(judge_url(text, &open()).is_err(), "{text} was permitted: {:?}", judge_url(text, &open()));
    }
}

#[test]
fn ordinary_addresses_are_permitted() {
    for text in [
        "https://example.com",
        "HTTP://Example.COM:8080/a?b=c#d",
        "https://example.com./",
        "https://8.8.8.8/dns",
        "https://[2606:4700:4700::1111]/",
        "https://sub_domain.example.com/",
        "https://bücher.example/",
        "https://xn--bcher-kva.example/",
        "https://пример.рф/",
        "https://日本語.jp/",
        "https://example.com/@user",
        "https://example.com/?u=http://127.0.0.1/",
        "  https://example.com/  ",
    ] {
        assert!(judge_url(text, &open()).is_ok(), "{text}: {:?}", judge_url(text, &open()));
    }
}

#[test]
fn other_schemes_and_crooked_texts_are_refused() {
    refused(&[
        "",
        "example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "gopher://x.com",
        "data:text/html,x",
        "javascript:1",
        "http:/example.com",
        "http:example.com",
        "http:///example.com",
        "http:\\\\example.com",
        "https://exa mple.com",
        "https://example.com\\@evil.com",
        "https://exam\tple.com",
        "https://example.com\n.evil.com",
        "https://",
        "https://:80",
        "https://example.com:99999",
        "https://example.com:8o",
        "https://exa%00mple.com",
        "https://a..b.com",
        "https://[::1",
        "https://[::1%25eth0]/",
        "https://[fe80::1%eth0]/",
        "https://exa%2fmple.com/",
        "https://%zz/",
        "jar:http://example.com!/",
        "view-source:https://example.com",
    ]);
}

#[test]
fn a_user_name_is_refused_unless_permitted() {
    for text in [
        "https://user@example.com",
        "https://user:pw@example.com",
        "https://google.com@evil.example.com",
        "https://a@b@c.com",
    ] {
        assert_eq!(judge_url(text, &open()), Err(UrlRefusal::Userinfo), "{text}");
    }
    let policy = UrlPolicy { allow_userinfo: true, ..open() };
    let url = judge_url("https://google.com@evil.example.com/x", &policy).unwrap();
    assert_eq!(url.host, Host::Name("evil.example.com".into()));
    assert_eq!(url.to_string(), "https://evil.example.com/x");
}

#[test]
fn every_spelling_of_a_private_address_is_refused() {
    refused(&[
        "http://127.0.0.1",
        "http://127.1",
        "http://127.0.1",
        "http://2130706433",
        "http://0x7f000001",
        "http://0x7f.1",
        "http://017700000001",
        "http://0177.0.0.1",
        "http://0x7F.0x0.0x0.0x1",
        "http://127.0.0.1.",
        "http://0",
        "http://0.0.0.0",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://192.168.1.1",
        "http://100.64.0.1",
        "http://169.254.1.1",
        "http://198.18.0.1",
        "http://224.0.0.1",
        "http://255.255.255.255",
        "http://①②⑦.⓪.⓪.①",
        "http://１２７.０.０.１",
        "http://127。0。0。1",
        "http://%31%32%37.0.0.1",
        "http://%6c%6f%63alhost",
        "http://localhost",
        "http://LOCALHOST.",
        "http://foo.localhost",
        "http://ⓛocalhost",
        "http://loc\u{ad}alhost",
        "http://intranet",
        "http://printer.local",
        "http://db.internal",
        "http://[::1]",
        "http://[::]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:7f00:1]",
        "http://[::127.0.0.1]",
        "http://[64:ff9b::7f00:1]",
        "http://[64:ff9b:1::7f00:1]",
        "http://[2002:7f00:1::]",
        "http://[2002:a00:1::1]",
        "http://[2001:0:0:0:0:0:80ff:fffe]",
        "http://[fe80::1]",
        "http://[fc00::1]",
        "http://[fd12::1]",
        "http://[fec0::1]",
        "http://[ff02::1]",
        "http://[::ffff:0:127.0.0.1]",
        "http://[fe80::5efe:7f00:1]",
        "http://[2001:db8::1]",
        "http://256.1.1.1",
        "http://1.2.3.4.5",
        "http://09.1.1.1",
        "http://0xg.1",
        "http://4294967296",
    ]);
}

#[test]
fn metadata_services_stay_closed_even_when_private_addresses_are_open() {
    for text in [
        "http://169.254.169.254/latest",
        "http://2852039166",
        "http://0xa9fea9fe",
        "http://[::ffff:169.254.169.254]",
        "http://[fd00:ec2::254]",
        "http://100.100.100.200",
        "http://metadata.google.internal",
        "http://metadata.goog",
        "http://METADATA.google.internal.",
        "http://metadata",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://[2002:a9fe:a9fe::]",
        "http://168.63.129.16",
        "http://192.0.0.192",
        "http://169.254.170.2",
    ] {
        assert_eq!(judge_url(text, &private()), Err(UrlRefusal::Metadata), "{text}");
    }
    assert!(judge_url("http://127.0.0.1:3000", &private()).is_ok());
    assert!(judge_url("http://localhost:3000", &private()).is_ok());
    assert!(judge_url("http://[::1]:3000", &private()).is_ok());
}

#[test]
fn resolved_addresses_are_judged_by_themselves() {
    for bad in
        ["127.0.0.1", "10.1.2.3", "::1", "::ffff:10.0.0.1", "fd00::1", "0.0.0.0", "64:ff9b::a00:1", "fe80::1"]
    {
        assert!(judge_address(bad.parse().unwrap(), &open()).is_err(), "{bad}");
    }
    for good in ["1.1.1.1", "93.184.216.34", "2606:4700::1", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
        assert_eq!(judge_address(good.parse().unwrap(), &open()), Ok(()), "{good}");
    }
    let metadata: IpAddr = "169.254.169.254".parse().unwrap();
    assert_eq!(judge_address(metadata, &private()), Err(UrlRefusal::Metadata));
    let policy = UrlPolicy { trusted: vec![HostRule::parse("git.corp.example.com").unwrap()], ..open() };
    let host = Host::Name("git.corp.example.com".into());
    assert_eq!(judge_resolved(&host, "10.0.0.1".parse().unwrap(), &policy), Ok(()));
    assert_eq!(judge_resolved(&host, metadata, &policy), Err(UrlRefusal::Metadata));
    assert!(judge_resolved(&Host::Name("x.com".into()), "10.0.0.1".parse().unwrap(), &policy).is_err());
}

#[test]
fn look_alike_hosts_are_refused() {
    for text in [
        "https://аpple.com",
        "https://xn--pple-43d.com",
        "https://раураl.com",
        "https://gооgle.com",
        "https://аррӏе.com",
        "https://xn--80ak6aa92e.com",
        "https://xn--a-.com",
    ] {
        assert_eq!(judge_url(text, &open()), Err(UrlRefusal::LookAlike), "{text}");
    }
}

#[test]
fn lists_of_hosts_know_suffixes() {
    let rule = |text| HostRule::parse(text).unwrap();
    let name = |text: &str| Host::Name(text.to_owned());
    assert!(rule("example.com").matches(&name("example.com")));
    assert!(rule("Example.com.").matches(&name("a.b.example.com")));
    assert!(!rule("example.com").matches(&name("notexample.com")));
    assert!(!rule("example.com").matches(&name("example.com.evil.net")));
    assert!(!rule("*.example.com").matches(&name("example.com")));
    assert!(rule("*.example.com").matches(&name("a.example.com")));
    assert!(rule("https://example.com:8080/path").matches(&name("example.com")));
    assert!(rule("[::1]:80").matches(&Host::Address("::1".parse().unwrap())));
    assert!(rule("127.0.0.1").matches(&Host::Address("::ffff:127.0.0.1".parse().unwrap())));
    assert!(rule("bücher.example").matches(&name("www.xn--bcher-kva.example")));
    assert_eq!(HostRule::parse("  "), None);
}

#[test]
fn blocked_wins_and_a_list_of_permitted_hosts_is_the_whole_list() {
    let mut policy = UrlPolicy { only: vec![HostRule::parse("example.com").unwrap()], ..open() };
    let place = Place { name: "the settings".into(), line: None };
    policy.blocked.insert(HostRule::parse("bad.example.com").unwrap(), place);

    assert!(judge_url("https://www.example.com/", &policy).is_ok());
    for blocked in ["https://bad.example.com/", "https://BAD.example.com./", "https://x.bad.example.com/"] {
        let why = judge_url(blocked, &policy).unwrap_err().to_string();
        assert_eq!(why, "the site is blocked by `bad.example.com` in the settings", "{blocked}");
    }
    assert_eq!(judge_url("https://other.com/", &policy), Err(UrlRefusal::NotListed));
}

#[test]
fn where_nobody_can_say_what_is_blocked_nothing_is_fetched() {
    let policy = UrlPolicy { closed: Some("ads.txt cannot be read".to_owned()), ..open() };

    let why = judge_url("https://example.com/", &policy).unwrap_err().to_string();

    assert_eq!(why, "nothing is fetched: ads.txt cannot be read");
}

#[test]
fn ports_of_other_protocols_are_refused() {
    for port in [0, 22, 25, 6379, 11211] {
        assert_eq!(judge_url(&format!("http://example.com:{port}/"), &open()), Err(UrlRefusal::Port(port)));
    }
    assert!(judge_url("http://example.com:8443/", &open()).is_ok());
}

#[test]
fn redirects_are_judged_and_tell_when_credentials_must_go() {
    let from = judge_url("https://example.com/a/b?q", &open()).unwrap();
    let go = |to: &str| judge_redirect(&from, to, &open());
    for (to, want, dropped) in [
        ("/x", "https://example.com/x", false),
        ("c", "https://example.com/a/c", false),
        ("../c?d", "https://example.com/c?d", false),
        ("?z", "https://example.com/a/b?z", false),
        ("https://EXAMPLE.com:443/y", "https://example.com/y", false),
        ("//cdn.example.com/z", "https://cdn.example.com/z", true),
        ("https://example.com:8443/", "https://example.com:8443/", true),
        ("https://example.org/", "https://example.org/", true),
    ] {
        let redirect = go(to).unwrap();
        assert_eq!((redirect.to.to_string().as_str(), redirect.drop_credentials), (want, dropped), "{to}");
    }
    assert_eq!(go("http://example.com/"), Err(UrlRefusal::Downgrade));
    assert_eq!(go("http://169.254.169.254/"), Err(UrlRefusal::Metadata));
    assert!(go("//127.0.0.1/").is_err());
    assert!(go("file:///etc/passwd").is_err());
    assert!(go("\\\\evil.com\\x").is_err());
    assert!(go("///evil.com").is_err());
}

proptest! {
    #[test]
    fn any_text_gets_an_answer(text in "\\PC{0,60}") {
        let _ = judge_url(&text, &open());
        let _ = HostRule::parse(&text);
        let from = Url::parse("https://example.com/a").unwrap();
        let _ = judge_redirect(&from, &text, &open());
    }

    #[test]
    fn host_like_text_gets_an_answer(text in "https?://(xn--)?[a-z0-9.%x:@\\[\\]-]{0,30}(/.{0,10})?") {
        if let Ok(url) = judge_url(&text, &private()) {
            let again = Url::parse(&url.to_string());
            prop_assert_eq!(again.map(|again| again.host), Ok(url.host));
        }
    }

    #[test]
    fn no_spelling_of_an_address_escapes(address: u32, spelling in 0..6_u8) {
        let [a, b, c, d] = address.to_be_bytes();
        let host = match spelling {
            0 => format!("{address}"),
            1 => format!("{address:#x}"),
            2 => format!("0{address:o}"),
            3 => format!("{a}.{}", address & 0x00ff_ffff),
            4 => format!("0{a:o}.{b:#x}.{}", u32::from(c) * 256 + u32::from(d)),
            _ => format!("[::ffff:{a}.{b}.{c}.{d}]"),
        };
        let direct = judge_address(IpAddr::from([a, b, c, d]), &open());
        let spelled = judge_url(&format!("http://{host}/"), &open()).map(drop);
        prop_assert_eq!(direct, spelled);
    }
}
