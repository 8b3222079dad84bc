// DuckDB beside weir, over a file of NDJSON: what a user would reach for instead, though it is not
// incremental.
//
// usage: node duckdb_peer.mjs FILE THREADS QUERY [PACKAGE_DIR]; prints one JSON object. The package
// is @duckdb/node-api, found by way of NODE_PATH or in PACKAGE_DIR/node_modules. QUERY is
//   stocks   per stream the row count, distinct prices and the median price
//   sensors  per sensor how many, sum, least and most
//   windows  the same per parent group and window of 10 s
//   newest   what weir's tumbling windows have of leaf groups: of every sensor its newest value in a
//            window of 10 s, and of these the same per parent group
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

const stocks = "{streamID: 'VARCHAR', price: 'DOUBLE'}";
const sensors = "{identifier: 'VARCHAR', timestamp: 'BIGINT', valueInW: 'DOUBLE'}";
// A sensor's name is its path in a tree of fan-out 8, "p.0.3.7".
const parent = "left(identifier, length(identifier) - 2)";
const four = "sum(valueInW), min(valueInW), max(valueInW)";
// The first column names a row, the second is how many records are in it.
const queries = {
  stocks: (file) => `
    SELECT streamID, count(*), approx_count_distinct(price), approx_quantile(price, 0.5)
    FROM ${file(stocks)} GROUP BY streamID ORDER BY streamID`,
  sensors: (file) => `
    SELECT identifier, count(*), ${four}
    FROM ${file(sensors)} GROUP BY identifier`,
  windows: (file) => `
    SELECT ${parent} || ' ' || timestamp // 10000, count(*), ${four}
    FROM ${file(sensors)} GROUP BY ${parent}, timestamp // 10000`,
  newest: (file) => `
    SELECT ${parent} || ' ' || w, sum(n)::BIGINT, ${four} FROM (
      SELECT identifier, timestamp // 10000 AS w, count(*) AS n,
             arg_max(valueInW, timestamp) AS valueInW
      FROM ${file(sensors)} GROUP BY identifier, w)
    GROUP BY ${parent}, w`,
};

const [file, threads, name, directory] = process.argv.slice(2);
if (!(name in queries)) {
  console.error(`usage: node duckdb_peer.mjs FILE THREADS ${Object.keys(queries).join("|")} [DIR]`);
  process.exit(2);
}
const require = createRequire(directory ? path.resolve(directory, "x.js") : import.meta.url);
let DuckDBInstance;
try {
  ({ DuckDBInstance } = require("@duckdb/node-api"));
} catch {
  console.error("the package @duckdb/node-api is not there (npm install @duckdb/node-api)");
  process.exit(3);
}

const instance = await DuckDBInstance.create(":memory:");
const connection = await instance.connect();
await connection.run(`PRAGMA threads=${Number(threads)}`);
const version = (await connection.runAndReadAll("SELECT version()")).getRows()[0][0];
const source = file.replaceAll("'", "''");
// The columns are declared, so that no time goes into guessing them.
const query = queries[name](
  (columns) => `read_json('${source}', format = 'newline_delimited', ignore_errors = true,
                columns = ${columns})`,
);
const started = process.hrtime.bigint();
// Results stay where they are made until the clock has stopped; turning them into objects of
// JavaScript is no part of the query.
const result = await connection.run(query);
const chunks = await result.fetchAllChunks();
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
const rows = chunks.flatMap((chunk) => chunk.getRows());
const records = rows.reduce((sum, row) => sum + Number(row[1]), 0);
const named = rows.filter((row) => row[0] !== null);
const counts = named.map((row) => `${row[0]} ${row[1]}`).sort().join("\n");
console.log(
  JSON.stringify({
    version,
    records,
    streams: named.length,
    seconds,
    checksum: createHash("sha256").update(counts).digest("hex").slice(0, 16),
  }),
);
