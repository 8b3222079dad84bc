// DuckDB beside weir: per stream the row count, distinct prices and the median price of a file of
// NDJSON stocks: what a user would reach for instead, though it is not incremental and has no DFT.
//
// usage: node duckdb_peer.mjs FILE THREADS [PACKAGE_DIR]; prints one JSON object. The package is
// @duckdb/node-api, found by way of NODE_PATH or in PACKAGE_DIR/node_modules.
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import path from "node:path";

const [file, threads, directory] = process.argv.slice(2);
if (!threads) {
  console.error("usage: node duckdb_peer.mjs FILE THREADS [PACKAGE_DIR]");
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
const query = `
  SELECT streamID, count(*), approx_count_distinct(price), approx_quantile(price, 0.5)
  FROM read_json('${source}', format = 'newline_delimited', ignore_errors = true,
                 columns = {streamID: 'VARCHAR', price: 'DOUBLE'})
  GROUP BY streamID ORDER BY streamID`;
const started = process.hrtime.bigint();
const rows = (await connection.runAndReadAll(query)).getRows();
const seconds = Number(process.hrtime.bigint() - started) / 1e9;
const records = rows.reduce((sum, row) => sum + Number(row[1]), 0);
const named = rows.filter((row) => row[0] !== null);
const counts = named.map((row) => `${row[0]} ${row[1]}`).join("\n");
console.log(
  JSON.stringify({
    version,
    records,
    streams: named.length,
    seconds,
    checksum: createHash("sha256").update(counts).digest("hex").slice(0, 16),
  }),
);
