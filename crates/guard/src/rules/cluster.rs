//! `cluster`: kubectl, helm and their kin.

use super::Rule;
use crate::effect::{Effect, Kind};

pub(crate) const RULE: Rule = Rule {
    says: "deletes parts of a cluster",
    keys: &[],
    matches,
    catches: &[
        "kubectl delete pod x",
        "kubectl -n prod delete ns x",
        "helm uninstall x",
        "kubectl drain node1",
        "kubectl scale deploy x --replicas=0",
    ],
    spares: &[
        "kubectl get pods",
        "kubectl delete pod x --dry-run=client",
        "helm list",
        "kubectl apply -f x.yaml",
    ],
    ..Rule::new("cluster")
};

fn matches(effect: &Effect) -> bool {
    effect.kind == Kind::Cluster
}
