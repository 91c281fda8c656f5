export const usage = `Usage: tuffet [serve] [options]
       tuffet doctor [--data DIR] [--config FILE] [--json]
       tuffet backup --to BACKUPS [--data DIR] [--keep N]
       tuffet restore --from BACKUPS --data DIR
       tuffet check [--data DIR] [--repair] [--json]
       tuffet export URL [--output FILE]
       tuffet import URL [--input FILE]
       tuffet migrate --from URL --to URL
       tuffet cluster status|drain|remove|rebalance [NODE] [--url URL]
       tuffet compare --reference URL [--subject URL] [--minutes N]
       tuffet COMMAND --help

Options of serve:
  --admin NAME:PASSWORD    server admin; may be given several times
  --data DIR               where the data lies (default ./data)
  --in-memory              keep nothing on disk
  --port N                 port to listen on (default 5984; 0 takes a free one)
  --bind ADDRESS           address to listen on (default 127.0.0.1)
  --config FILE            ini file with further options
  --workers N|auto         processes that serve connections (default 1)
  --cors                   let pages of any origin use the server; for development only
  --cluster URLS           be a node of a cluster, on these NATS servers (docs/cluster.md)
  --node-name NAME         name of this node
  --advertise URL          where other nodes reach this one
  --allow-unsafe-log       accept NATS servers that do not flush each message; for tests
  --tls-cert FILE          serve TLS too, with this certificate
  --tls-key FILE           and this private key
  --tls-port N             on this port (default 6984)
  --log-level LEVEL        debug, info, notice, warning, error, critical or none (default notice)
  --log-format text|json   how log lines are written (default text)
  --help                   this text
  --version                the version

A first start without an admin makes one, named admin, and prints its password once.

doctor looks at the configuration and the data folder, changes nothing, and names what is wrong, unknown or dangerous, with
what to do about it. It may be asked while a server runs. Exit code: 0 when there is no problem, 1 when there is one.

Environment: TUFFET_USER and TUFFET_PASSWORD (or COUCHDB_USER and COUCHDB_PASSWORD) name a server admin; with _FILE
appended they name files that hold the values. TUFFET_DATA, TUFFET_PORT, TUFFET_BIND, TUFFET_CONFIG, TUFFET_WORKERS,
TUFFET_LOG_LEVEL and TUFFET_LOG_FORMAT stand for the options of the same name, TUFFET_SECRET (or COUCHDB_SECRET, or either with _FILE) for
[chttpd_auth] secret, and TUFFET__SECTION__KEY for any option of the configuration. An option wins over the environment.
`;
