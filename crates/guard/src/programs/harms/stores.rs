//! Databases and files that are kept.

use super::{ERASES, Harm, harm};
use crate::effect::Kind;

pub(super) const TABLE: &[Harm] = &[
    harm(&["vault"], &["remove-peer", "step-down", "unwrap"], Kind::Database, ERASES),
    harm(&["cockroach"], &["node decommission", "node drain", "quit"], Kind::Database, ERASES),
    harm(&["etcdctl", "etcdutl"], &["snapshot restore"], Kind::Database, ERASES),
    harm(
        &["mysql_secure_installation", "mysql_upgrade", "pg_upgrade"],
        &[],
        Kind::Database,
        "changes a whole database",
    ),
    harm(&["octave", "matlab"], &["*rmdir(*", "*delete(*", "*unlink(*"], Kind::Delete, "deletes files"),
    harm(&["migrate"], &["drop", "down"], Kind::Database, ERASES),
    harm(&["hasura"], &["clear", "rollback"], Kind::Database, ERASES),
    harm(&["drush"], &["site:install", "sql:drop", "sql-drop", "site-install", "si"], Kind::Database, ERASES),
    harm(&["magento"], &["setup:uninstall"], Kind::Database, ERASES),
    harm(&["mongoexport", "mongofiles"], &["delete", "delete_id"], Kind::Database, ERASES),
    harm(&["systemd-tmpfiles"], &["--remove", "--purge"], Kind::Delete, "deletes files"),
    harm(&["etcdctl"], &["member remove", "defrag"], Kind::Database, ERASES),
    harm(&["nats"], &["rm", "purge", "del"], Kind::Database, ERASES),
    harm(&["hdfs", "hadoop"], &["-format", "-rm*", "-deleteSnapshot"], Kind::Database, ERASES),
    harm(&["clamscan"], &["--remove", "--remove=yes"], Kind::Delete, "deletes what it finds"),
    harm(
        &["doppler", "bw", "op", "passage", "gopass", "lpass", "rbw", "aws-vault", "chamber"],
        &["delete", "rm", "remove", "purge", "clear"],
        Kind::Database,
        ERASES,
    ),
    harm(&["gphoto2", "quickemu"], &["--delete-*", "-D"], Kind::Delete, "deletes files"),
    harm(
        &["filen", "skicka", "gdrive", "mega-rm", "rclone"],
        &["rm", "delete", "trash", "deletefile"],
        Kind::Cloud,
        ERASES,
    ),
    harm(&["ghq"], &["rm"], Kind::Delete, "deletes a copy of a project"),
    harm(&["duplicacy"], &["prune", "-exclusive"], Kind::Cloud, ERASES),
    harm(&["rdfind"], &["-deleteduplicates true"], Kind::Delete, "deletes files"),
    harm(&["clamdscan", "fclones"], &["--remove", "remove"], Kind::Delete, "deletes what it finds"),
    harm(
        &["rip", "gomi", "trash"],
        &["--decompose", "--prune", "empty", "--empty"],
        Kind::Delete,
        "empties the trash",
    ),
    harm(
        &["bleachbit", "bleachbit_console"],
        &["--shred", "-s"],
        Kind::Delete,
        "overwrites files beyond recovery",
    ),
    harm(&["tmpreaper", "tmpwatch", "dirs_cleaner"], &[], Kind::Delete, "deletes files"),
    harm(
        &["wp"],
        &["search-replace", "db reset", "db drop", "db clean", "site empty", "plugin delete", "post delete"],
        Kind::Database,
        ERASES,
    ),
    harm(&["pg_recvlogical"], &["--drop-slot"], Kind::Database, ERASES),
    harm(&["pg_archivecleanup"], &[], Kind::Database, ERASES),
    harm(&["pg_checksums"], &["--disable"], Kind::Database, "changes a whole database"),
    harm(
        &["dolt"],
        &["reset --hard", "branch --delete", "branch -D", "push --force", "push -f", "table rm"],
        Kind::Database,
        ERASES,
    ),
    harm(&["transmission-remote"], &["--remove-and-delete", "-rad"], Kind::Delete, "deletes files"),
    harm(&["calcurse-caldav", "vdirsyncer"], &["--init*", "--force-delete"], Kind::Cloud, ERASES),
];
