//! What holds for any table and any selection.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::toolset::{Catalog, CatalogParts, DynamicToolset, McpServers, Plan, Selection, explain};

/// A table by numbers: for each toolset its tools and what it includes, circles and all.
type Graph = Vec<(Vec<usize>, Vec<usize>)>;

const TOOLS: usize = 12;
/// Tools from here on are named but not registered.
const REGISTERED: usize = 9;

fn graphs() -> impl Strategy<Value = Graph> {
    let numbers = |below: usize| prop::collection::vec(0..below, 0..4);
    prop::collection::vec((numbers(TOOLS), numbers(10)), 1..10)
}

fn tool(number: usize) -> Arc<str> {
    format!("tool_{number:02}").into()
}

fn set(number: usize) -> String {
    format!("set-{number}")
}

/// The first tools are registered under `home`; a server has one more.
fn catalog(graph: &Graph) -> Catalog {
    let dynamic = graph.iter().enumerate().map(|(number, (tools, includes))| DynamicToolset {
        name: set(number).into(),
        tools: tools.iter().copied().map(tool).collect(),
        includes: includes.iter().map(|&number| set(number).into()).collect(),
        ..DynamicToolset::default()
    });
    let server = DynamicToolset::mcp("srv", vec![]);
    let mut tools: Vec<_> = (0..REGISTERED).map(|number| (tool(number), "home".into())).collect();
    tools.push(("mcp__srv__do".into(), "mcp-srv".into()));
    Catalog::new(CatalogParts {
        dynamic: dynamic.chain([server]).collect(),
        tools,
        ..CatalogParts::default()
    })
}

/// The tools of a toolset by adding until nothing is added any more.
fn closure(graph: &Graph, root: usize) -> BTreeSet<Arc<str>> {
    let mut sets = BTreeSet::from([root]);
    loop {
        let reached: Vec<usize> = sets
            .iter()
            .filter_map(|&number| graph.get(number))
            .flat_map(|(_, includes)| includes.clone())
            .collect();
        let before = sets.len();
        sets.extend(reached);
        if sets.len() == before {
            break;
        }
    }
    sets.iter()
        .filter_map(|&number| graph.get(number))
        .flat_map(|(tools, _)| tools.iter().copied().map(tool))
        .collect()
}

fn selections(sets: usize) -> impl Strategy<Value = Selection> {
    let names = move || {
        let name = prop_oneof![
            6 => (0..sets).prop_map(set),
            2 => (0..REGISTERED).prop_map(|number| tool(number).as_ref().to_owned()),
            1 => Just("all".to_owned()),
            1 => Just("srv".to_owned()),
        ];
        prop::collection::vec(name, 0..4)
    };
    let mcp = prop_oneof![
        Just(McpServers::Selected),
        Just(McpServers::Every),
        Just(McpServers::Named),
        Just(McpServers::Never)
    ];
    let lone =
        prop::collection::vec((0..REGISTERED).prop_map(|number| tool(number).as_ref().to_owned()), 0..2);
    (prop::option::of(names()), names(), lone, mcp, any::<bool>()).prop_map(
        |(enabled, disabled, tools_disabled, mcp, plugins)| Selection {
            enabled,
            disabled,
            tools_disabled,
            mcp,
            plugins,
            ..Selection::default()
        },
    )
}

fn graph_and_selection() -> impl Strategy<Value = (Graph, Selection)> {
    graphs().prop_flat_map(|graph| {
        let sets = graph.len();
        (Just(graph), selections(sets))
    })
}

fn plan(catalog: &Catalog, selection: &Selection) -> Plan {
    selection.plan(catalog).unwrap()
}

proptest! {
    #[test]
    fn a_toolset_resolves_to_its_closure(graph in graphs()) {
        let catalog = catalog(&graph);
        for root in 0..graph.len() {
            let found = catalog.resolve(&set(root)).unwrap();
            let all: Vec<_> = found.tools.iter().chain(&found.missing).map(|member| Arc::clone(&member.tool)).collect();

            prop_assert_eq!(all.iter().cloned().collect::<BTreeSet<_>>(), closure(&graph, root));
            prop_assert!(found.tools.is_sorted_by(|one, next| one.tool < next.tool));
            prop_assert!(found.missing.iter().all(|member| member.tool >= tool(REGISTERED)));
            for member in found.tools.iter().chain(&found.missing) {
                prop_assert_eq!(member.chain[0].as_ref(), set(root));
                let last = member.chain.last().unwrap();
                prop_assert!(catalog.resolve(last).unwrap().tools.iter().chain(&catalog.resolve(last).unwrap().missing)
                    .any(|own| own.tool == member.tool && own.chain.len() == 1));
            }
        }
    }

    #[test]
    fn disabled_always_wins((graph, selection) in graph_and_selection()) {
        let catalog = catalog(&graph);
        let plan = plan(&catalog, &selection);
        for name in &selection.disabled {
            for member in catalog.resolve(name).unwrap().tools {
                prop_assert!(!plan.contains(&member.tool), "{} by {name}", member.tool);
            }
        }
        for tool in &selection.tools_disabled {
            prop_assert!(!plan.contains(tool));
        }
    }

    #[test]
    fn disabling_more_never_gives_more((graph, selection) in graph_and_selection(), more in 0_usize..10) {
        let catalog = catalog(&graph);
        let before = plan(&catalog, &selection);
        let after = plan(&catalog, &selection.without([set(more % graph.len())]));

        prop_assert!(after.tools().iter().all(|tool| before.contains(tool)));
    }

    #[test]
    fn only_what_is_registered_and_reached_is_in((graph, selection) in graph_and_selection()) {
        let catalog = catalog(&graph);
        let plan = plan(&catalog, &selection);
        let reached: BTreeSet<_> = selection.enabled.clone().unwrap_or_else(|| vec!["all".into()]).iter()
            .flat_map(|name| catalog.resolve(name).unwrap().tools).map(|member| member.tool).collect();

        prop_assert!(plan.tools().is_sorted_by(|one, next| one < next));
        prop_assert!(plan.tools().iter().all(|tool| catalog.home(tool).is_some()));
        if !selection.plugins && selection.mcp != McpServers::Every {
            prop_assert!(plan.tools().iter().all(|tool| reached.contains(tool)));
        }
        if selection.mcp == McpServers::Never {
            prop_assert!(!plan.contains("mcp__srv__do"));
        }
    }

    #[test]
    fn the_explanation_tells_what_the_plan_does((graph, selection) in graph_and_selection()) {
        let catalog = catalog(&graph);
        let told = explain(&catalog, &selection).unwrap();
        let told_in: Vec<_> = told.tools.iter().filter(|story| story.verdict.is_in()).map(|story| Arc::clone(&story.tool)).collect();

        let plan = plan(&catalog, &selection);
        prop_assert_eq!(&told_in, plan.tools());
        prop_assert_eq!(told.tools.len(), REGISTERED + 1);
    }

    #[test]
    fn any_name_at_all_is_answered(name in ".{0,40}") {
        let catalog = catalog(&vec![(vec![0], vec![0])]);

        if let Err(error) = catalog.resolve(&name) {
            prop_assert!(error.to_string().contains("is not known"));
        }
    }
}
