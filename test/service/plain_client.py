# Calls every route of a service with only Python's standard library, and sends no header except Authorization.
#
# python3 plain_client.py URL KEY      prints one line per request; exits with 1 at the first wrong answer.

import http.client
import json
import re
import sys
import tarfile
import urllib.parse
import urllib.request

BASE = urllib.parse.urlsplit(sys.argv[1])
KEY = sys.argv[2]
EDGE_FIELDS = ["id", "event_ts", "members", "weight", "mean_dist_m", "formation"]

visited = set()
connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=30)


def call(method, template, body=None, status=200, key=KEY, query=None, **parameters):
    """Sends a request on the single connection. Returns the parsed JSON, or the text of any other answer.

    A path parameter is a keyword argument; `key_` is the parameter `key`.
    """
    path = template
    for name, value in parameters.items():
        path = path.replace("{" + name.rstrip("_") + "}", urllib.parse.quote(str(value), safe=""))
    if query:
        path += "?" + urllib.parse.urlencode(query)
    data = None if body is None else json.dumps(body).encode()
    headers = {} if key is None else {"Authorization": "Bearer " + key}
    connection.request(method, path, body=data, headers=headers)
    response = connection.getresponse()
    body = response.read()
    if response.getheader("Content-Type") in ("application/octet-stream", "application/gzip"):
        text = body.decode("latin-1")
    else:
        text = body.decode()
    expect(response.status == status, f"{method} {path}: {response.status} {text[:500]}")
    expect(response.getheader("X-Request-Id"), f"{method} {path}: no X-Request-Id")
    visited.add((method, template))
    print(f"{method} {path} {response.status}")
    is_json = response.getheader("Content-Type", "").startswith("application/json")
    return json.loads(text) if is_json else text


def expect(condition, message):
    if not condition:
        sys.exit("surprise: " + message)


def equal(found, wanted, what):
    expect(found == wanted, f"{what}: {found!r}, not {wanted!r}")


def has(value, **fields):
    for name, wanted in fields.items():
        expect(name in value, f"no field {name} in {value!r}")
        equal(value[name], wanted, name)


def health():
    equal(call("GET", "/health/live", key=None), {"status": "live"}, "live")
    equal(call("GET", "/health/ready", key=None), {"status": "ready"}, "ready")
    found = call("GET", "/health")
    has(found, status="ok", bucket_seconds=10, total_records=0, auth_disabled=False)
    for name in ["version", "db_dir", "bucket_count", "node_count", "wal_pending", "uptime_seconds"]:
        expect(name in found, f"/health has no {name}")
    metrics = call("GET", "/metrics")
    for name in ["records_total", "query_duration_seconds", "wal_size_bytes", "compactions_total"]:
        expect(f"hedgerow_{name}" in metrics, f"/metrics has no hedgerow_{name}")
    # Uses `urllib`, the other HTTP client of the standard library.
    request = urllib.request.Request(sys.argv[1] + "/v1/wal", headers={"Authorization": "Bearer " + KEY})
    with urllib.request.urlopen(request, timeout=30) as response:
        equal(json.load(response)["pending"], 0, "pending of an empty service")


def tables():
    listed = call("GET", "/v1/tables")
    expect(isinstance(listed, list), "/v1/tables is no bare array")
    equal([table["name"] for table in listed], ["hyperedges"], "tables")
    made = call(
        "POST",
        "/v1/tables",
        {"name": "Meetings", "member_tables": ["Person"], "bucket_seconds": 60, "compact_threshold": 5},
        status=201,
    )
    has(made, name="Meetings", member_tables=["Person"], bucket_seconds=60, compact_threshold=5, row_count=0, primary=False)
    equal(call("GET", "/v1/tables/{name}", name="meetings"), made, "one table")
    call("POST", "/v1/tables", {"name": "meetings"}, status=409)
    equal(call("DELETE", "/v1/tables/{name}", name="Meetings"), {"name": "Meetings", "dropped": True}, "drop")
    call("GET", "/v1/tables/{name}", name="Meetings", status=404)


def nodes():
    body = {"name": "People", "key": {"name": "name", "type": "TEXT"}, "columns": [{"name": "born", "type": "INTEGER"}]}
    made = call("POST", "/v1/node-tables", body, status=201)
    has(made, name="People", key=body["key"], columns=body["columns"], row_count=0)
    equal(call("GET", "/v1/node-tables"), [made], "node tables")
    equal(call("GET", "/v1/node-tables/{name}", name="people"), made, "one node table")
    call("POST", "/v1/tables", {"name": "calls", "member_tables": ["People"]}, status=201)
    edge = call("POST", "/v1/hyperedges", {"table": "calls", "event_ts": 1, "members": ["Ada", "Grace é/🦔"]}, status=201)
    equal(edge["members"], ["Ada", "Grace é/🦔"], "members as keys")
    found = call("GET", "/v1/hyperedges/node/{node_id}", node_id="Grace é/🦔", query={"table": "calls"})
    has(found, node_id="Grace é/🦔", num_tuples=1)
    listed = call("GET", "/v1/nodes/{table}", table="People")
    equal(listed["nodes"], [{"name": "Ada", "born": None}, {"name": "Grace é/🦔", "born": None}], "nodes by key")
    equal(call("POST", "/v1/nodes/{table}", {"name": "Alan"}, table="People"), {"table": "People", "inserted": 1, "replaced": 0}, "a node")
    row = call("PUT", "/v1/nodes/{table}/{key}", {"born": 1815}, table="People", key_="Ada")
    equal(row, {"name": "Ada", "born": 1815}, "a node that was replaced")
    call("PATCH", "/v1/nodes/{table}/{key}", {"born": None}, table="People", key_="Ada")
    equal(call("GET", "/v1/nodes/{table}/{key}", table="People", key_="Ada"), {"name": "Ada", "born": None}, "a node")
    call("DELETE", "/v1/nodes/{table}/{key}", table="People", key_="Ada", status=409)
    equal(call("DELETE", "/v1/nodes/{table}/{key}", table="People", key_="Alan"), {"table": "People", "key": "Alan", "deleted": True}, "delete")
    call("DELETE", "/v1/node-tables/{name}", name="People", status=409)
    call("DELETE", "/v1/tables/{name}", name="calls")
    equal(call("DELETE", "/v1/node-tables/{name}", name="People"), {"name": "People", "dropped": True}, "drop")


def indexes():
    equal(call("GET", "/v1/indexes"), [], "/v1/indexes")
    made = call("POST", "/v1/indexes", {"table": "hyperedges", "column": "weight"}, status=201)
    has(made, table="hyperedges", column="weight")
    equal(call("GET", "/v1/indexes", query={"table": "hyperedges"}), [made], "indexes of a table")
    dropped = call("DELETE", "/v1/indexes/{table}/{column}", table="hyperedges", column="weight")
    equal(dropped, {"table": "hyperedges", "column": "weight", "dropped": True}, "drop")
    call("DELETE", "/v1/indexes/{table}/{column}", table="hyperedges", column="weight", status=404)
    text = {"table": "hyperedges", "kind": "text", "columns": ["formation"]}
    made = call("POST", "/v1/indexes", text, status=201)
    equal(made["kind"], "text", "kind of a text index")
    dropped = call("DELETE", "/v1/indexes/{table}/text", table="hyperedges")
    equal(dropped, {"table": "hyperedges", "kind": "text", "dropped": True}, "dropped text index")


def hyperedges():
    edge = {"event_ts": 100, "members": [3, 1, 2], "weight": 0.5, "mean_dist_m": 12.25, "formation": "escort é"}
    made = call("POST", "/v1/hyperedges", edge, status=201)
    has(made, table="hyperedges", event_ts=100, members=[1, 2, 3], weight=0.5, mean_dist_m=12.25, formation="escort é")
    call("POST", "/v1/hyperedges", {"event_ts": 101, "members": [3]}, status=201)
    refused = call("POST", "/v1/hyperedges", {"event_ts": 101, "members": []}, status=400)
    expect(isinstance(refused["detail"], str) and refused["status"] == 400, f"no error body: {refused!r}")
    found = call("GET", "/v1/hyperedges", query={"start_ts": 100, "end_ts": 101})
    has(found, table="hyperedges", num_tuples=2, next_cursor=None)
    row = found["hyperedges"][0]
    equal({name: row[name] for name in EDGE_FIELDS}, {name: made[name] for name in EDGE_FIELDS}, "row")
    equal(found["query_plan"]["strategy"], "TPI_BUCKET_PUSHDOWN", "strategy")
    equal(call("GET", "/v1/hyperedges/{id}", id=row["id"]), row, "edge")
    iso = call("GET", "/v1/hyperedges/{id}", id=row["id"], query={"times": "iso"})
    equal(iso, {**row, "event_ts": "1970-01-01T00:01:40Z"}, "edge with its time as a text")
    call("GET", "/v1/hyperedges/{id}", id=999999, status=404)
    changed = call("PATCH", "/v1/hyperedges/{id}", {"weight": 0.75, "formation": None}, id=row["id"])
    equal(changed, {**row, "table": "hyperedges", "weight": 0.75, "formation": None}, "changed edge")
    call("PATCH", "/v1/hyperedges/{id}", {"table": "hyperedges", "weight": 0.5, "formation": "escort é"}, id=row["id"])
    call("PATCH", "/v1/hyperedges/{id}", {"end_ts": 7}, id=row["id"], status=400)
    call("PATCH", "/v1/hyperedges/{id}", {"weight": 1}, id=999999, status=404)
    call("GET", "/v1/hyperedges", query={"at": 100}, status=400)
    node = call("GET", "/v1/hyperedges/node/{node_id}", node_id=1)
    has(node, node_id=1, num_tuples=1)
    deleted = call("DELETE", "/v1/hyperedges", {"event_ts": 100, "members": [2, 3, 1]})
    equal(deleted, {"deleted": True, "matched": 1, "table": "hyperedges", "event_ts": 100, "members": [1, 2, 3]}, "delete")
    again = call("DELETE", "/v1/hyperedges", {"event_ts": 100, "members": [2, 3, 1]})
    has(again, deleted=False, matched=0)
    has(call("GET", "/v1/hyperedges/node/{node_id}", node_id=1), num_tuples=0, hyperedges=[])
    roles()


def roles():
    call("POST", "/v1/tables", {"name": "mail", "roles": ["sender", "recipient"]}, status=201)
    members = {"sender": [1], "recipient": [2, 3]}
    made = call("POST", "/v1/hyperedges", {"table": "mail", "event_ts": 5, "members": members}, status=201)
    has(made, members=[1, 2, 3], roles=members)
    items = [{"node": 3, "role": "sender"}, {"node": 1, "role": ["recipient"]}, 4]
    made = call("POST", "/v1/hyperedges", {"table": "mail", "event_ts": 6, "members": items}, status=201)
    has(made, members=[1, 3, 4], roles={"sender": [3], "recipient": [1]})
    sent = call("GET", "/v1/hyperedges/node/{node_id}", node_id=1, query={"table": "mail", "role": "sender"})
    equal([row["event_ts"] for row in sent["hyperedges"]], [5], "edges by role")
    wrong = {"table": "mail", "event_ts": 7, "members": {"seller": [1]}}
    call("POST", "/v1/hyperedges", wrong, status=400)
    call("DELETE", "/v1/tables/{name}", name="mail")


def changes():
    text = call("GET", "/v1/changes", query={"table": "hyperedges"})
    found = [json.loads(line) for line in text.splitlines()]
    expect(len(found) > 2 and found[0]["op"] == "table_created", "there are no changes")
    lsns = [change["lsn"] for change in found]
    equal(lsns, sorted(set(lsns)), "LSNs of changes")
    rest = call("GET", "/v1/changes", query={"from_lsn": lsns[-2], "table": "hyperedges"})
    equal(json.loads(rest), found[-1], "the last change")
    log = call("GET", "/v1/log", query={"from_lsn": 0, "wait_s": 0})
    equal(log[:4], "HGFS", "the beginning of a message")
    snapshot = call("GET", "/v1/snapshot")
    equal(snapshot[:2], "\x1f\x8b", "the beginning of a gzip file")


def maintenance():
    wal = call("GET", "/v1/wal")
    has(wal, threshold=0)
    expect(wal["pending"] > 0, "nothing is pending after writes")
    compacted = call("POST", "/v1/hyperedges/compact", {"table": "hyperedges"})
    has(compacted, compacted=True, table="hyperedges", wal_pending_after=0)
    has(call("POST", "/v1/hyperedges/compact", {"ttl_seconds": 4000000000}), table=None, edges_dropped=0)
    applied = call("POST", "/v1/autocompact", {"threshold": 1000})
    equal(applied, {"threshold": 1000, "table": None, "applied": True}, "autocompact")
    has(call("GET", "/v1/wal"), pending=0, threshold=1000)


def query():
    answer = call("POST", "/v1/query", {"query": "MATCH (e:hyperedges) RETURN count(*) AS n", "parameters": {}})
    assert answer["columns"] == ["n"], answer
    assert answer["column_types"] == ["INTEGER"], answer
    assert answer["num_tuples"] == 1, answer


def analytics():
    listed = call("GET", "/v1/analytics")
    equal(len(listed), 25, "measures")
    answer = call("POST", "/v1/analytics/{table}/{measure}", {"params": {"s": 1}}, table="hyperedges", measure="s_adjacency")
    has(answer, measure="s_adjacency", table="hyperedges", result=[])
    refused = call("POST", "/v1/analytics/{table}/{measure}", {}, status=400, table="hyperedges", measure="nope")
    expect("density" in refused["detail"], f"no names of measures: {refused!r}")
    call("POST", "/v1/analytics/{table}/{measure}", {}, status=404, table="nope", measure="density")


def rules():
    rule = {
        "id": "rule:met",
        "if": [
            {"pred": "member", "args": ["?E", "?A"]},
            {"pred": "member", "args": ["?E", "?B"]},
            {"compare": ["?A", "<", "?B"]},
        ],
        "then": {"pred": "met", "args": ["?A", "?B"], "confidence": 0.5},
    }
    has(call("POST", "/v1/rules/validate", rule), ok=True, errors=[], stratum=0)
    equal(call("GET", "/v1/rules"), {"rules": []}, "rules before")
    has(call("POST", "/v1/rules", rule), id="rule:met", version=1, stratum=0, enabled=True, priority=0)
    has(call("POST", "/v1/rules", rule), version=2)
    has(call("GET", "/v1/rules/{id}", id="rule:met"), version=2)
    item = call("GET", "/v1/rules")["rules"][0]
    has(item, id="rule:met", head="met", body_size=3)
    unsafe = {**rule, "then": {"pred": "met", "args": ["?A", "?Z"]}}
    has(call("POST", "/v1/rules/validate", unsafe), ok=False, stratum=None)
    refused = call("POST", "/v1/rules", unsafe, status=422)
    expect("?Z" in refused["detail"], f"the variable is not named: {refused!r}")


def reason():
    call("POST", "/v1/hyperedges", {"event_ts": 300, "members": [7, 8]}, status=201)
    answer = call("POST", "/v1/reason", {"query": "node 7"})
    equal([fact["fact"] for fact in answer["derived_facts"]], ["met(7, 8)"], "facts")
    equal(answer["rules_fired"], ["rule:met"], "rules fired")
    has(answer["proofs"][0], proof_id="proof-1", status="proved", goal="met(7, 8)")
    expect("[STEP-1]" in answer["answer"], f"no tag in the answer: {answer['answer']!r}")
    call("POST", "/v1/reason", {"query": "", "table": "nope"}, status=422)
    asked = call("POST", "/v1/rag/query", {"query": "What did node 7 do?", "mock": True})
    has(asked, model="mock", abstained=False, mode="hybrid")
    call("POST", "/v1/rag/query", {"query": "x", "mode": "nope"}, status=422)
    call("POST", "/v1/rag/query", {"query": "x", "table": "nope"}, status=404)
    past = call("GET", "/v1/rag/interactions/{id}", id=asked["interaction_id"])
    has(past, interaction_id=asked["interaction_id"], answer=asked["answer"])
    equal([edge["members"] for edge in answer["all_edges"]], [[7, 8]], "edges")
    edge_id = answer["all_edges"][0]["edge_id"]
    claims = ["Nodes 7 and 8 met.", "Nodes 7 and 9 met."]
    checked = call("POST", "/v1/rag/check", {"claims": claims, "edge_ids": [edge_id]})
    equal([one["supported"] for one in checked["results"]], [True, False], "verdicts")
    has(checked, supported=1, total=2)
    call("POST", "/v1/rag/check", {"edge_ids": [edge_id]}, status=422)
    has(call("GET", "/v1/rag/parse", query={"query": "nodes 7 and 8"}), nodes=[7, 8], window=None)
    equal(call("DELETE", "/v1/rules/{id}", id="rule:met"), {"id": "rule:met", "deleted": True}, "deletion")
    call("GET", "/v1/rules/{id}", id="rule:met", status=404)


def memory():
    what = "The budget of project Orion is 40,000 euros."
    old = call("POST", "/v1/memory/remember", {"what": what, "who": ["Ada"], "about": ["Orion"], "when": 100}, status=201)
    new = call("POST", "/v1/memory/supersede", {"id": old["id"], "what": what.replace("40", "55"), "at": "1970-01-02"})
    equal(new["ended"], old["id"], "ended")
    call("POST", "/v1/memory/supersede", {"id": old["id"], "what": "x"}, status=409)
    call("POST", "/v1/memory/supersede", {"id": 987654, "what": "x"}, status=404)
    recalled = call("POST", "/v1/memory/recall", {"question": "Orion's budget?"})["memories"]
    equal([one["id"] for one in recalled], [new["id"]], "what holds")
    recalled = call("POST", "/v1/memory/recall", {"question": "Orion's budget?", "at": 100})["memories"]
    equal([one["id"] for one in recalled], [old["id"]], "what held")
    versions = call("POST", "/v1/memory/history", {"about": ["Orion"]})["memories"]
    equal([one["superseded_by"] for one in versions], [new["id"], None], "successors")
    has(versions[1], who=["Ada"], event_ts=86400, end_ts=None, supersedes=old["id"])
    call("POST", "/v1/memory/history", {}, status=400)


def virtual():
    backends = call("GET", "/v1/virtual/backends")["backends"]
    equal([item["type"] for item in backends], ["duckdb", "parquet", "csv", "json", "postgres"], "backends")
    backend = {"type": "csv", "path": "trips.csv"}
    proposed = call("POST", "/v1/virtual/propose", {"backend": backend, "id": "seen"})
    has(proposed, saved=False, llm_used=False)
    equal([item["edge"] for item in proposed["rationale"]], [edge["label"] for edge in proposed["spec"]["edges"]], "rationale")
    spec = {
        "id": "trips",
        "name": "Trips",
        "backend": backend,
        "nodes": [{"label": "Place", "table": "trips", "id_column": "origin_id"}],
        "edges": [
            {
                "label": "Trip",
                "shape": "row",
                "table": "trips",
                "ts_column": "left_at",
                "row_member_columns": {"origin": "origin_id", "target": "target_id"},
                "members": [
                    {"name": "origin", "node_label": "Place", "role": "src"},
                    {"name": "target", "node_label": "Place", "role": "dst"},
                ],
            }
        ],
    }
    equal(call("POST", "/v1/virtual/graphs", spec, status=201), {**spec, "spec_version": 1}, "stored spec")
    call("POST", "/v1/virtual/graphs", spec, status=409)
    call("POST", "/v1/virtual/graphs", {**spec, "id": "out", "backend": {"type": "csv", "path": "../a.csv"}}, status=400)
    summary = {"id": "trips", "name": "Trips", "backend_type": "csv", "edge_labels": ["Trip"], "node_labels": ["Place"], "spec_version": 1}
    equal(call("GET", "/v1/virtual/graphs"), {"graphs": [summary]}, "list")
    [table] = call("GET", "/v1/virtual/graphs/{id}/introspect", id="trips")["tables"]
    equal((table["name"], [column["name"] for column in table["columns"]], table["row_count"]),
          ("trips", ["trip_id", "origin_id", "target_id", "left_at"], 2), "introspection")
    query = "MATCH (t:Trip){origin:Place, target:Place} WHERE origin.id = 5 RETURN t"
    compiled = call("POST", "/v1/virtual/graphs/{id}/compile", {"query": query}, id="trips")
    equal(compiled["plan"]["member_predicates"], [{"member": "origin", "op": "=", "value": 5}], "plan")
    two = "MATCH (t:Trip){origin:Place}, (u:Trip){target:Place} RETURN t"
    call("POST", "/v1/virtual/graphs/{id}/compile", {"query": two}, status=400, id="trips")
    answer = call("POST", "/v1/virtual/graphs/{id}/query", {"query": query, "captured_at": 9}, id="trips")
    has(answer, count=1, skipped=0, sql=compiled["sql"], cached=False, cache_enabled=True)
    equal(answer["hyperedges"], [{
        "edge_label": "Trip",
        "members": [
            {"vertex_local_id": "place:5", "role": "src", "name": "origin"},
            {"vertex_local_id": "place:7", "role": "dst", "name": "target"},
        ],
        "event_ts": 1700000000,
        "properties": {"trip_id": 1},
        "provenance": {"graph": "trips", "spec_version": 1, "captured_at": 9},
    }], "hyperedges")
    has(call("POST", "/v1/virtual/graphs/{id}/query", {"query": query, "limit": None}, id="trips"), count=1, cached=True)
    has(call("POST", "/v1/virtual/graphs/{id}/query", {"query": query, "refresh": True}, id="trips"), cached=False)
    made = call("POST", "/v1/virtual/graphs/{id}/materialize", {"query": query, "table": "trip_edges"}, status=201, id="trips")
    has(made, table="trip_edges", node_tables=["Place"], inserted=1, nodes=2)
    has(call("GET", "/v1/tables/{name}", name="trip_edges"), row_count=1)
    call("DELETE", "/v1/tables/{name}", name="trip_edges")
    call("DELETE", "/v1/node-tables/{name}", name="Place")
    has(call("PUT", "/v1/virtual/graphs/{id}", {**spec, "name": "Others"}, id="trips"), name="Others", spec_version=2)
    call("PUT", "/v1/virtual/graphs/{id}", {**spec, "id": "other"}, status=400, id="trips")
    equal(call("DELETE", "/v1/virtual/graphs/{id}/cache", id="trips"), {"id": "trips", "cleared": 0}, "cache")
    missing = {**spec, "id": "missing", "backend": {"type": "csv", "path": "missing.csv"}}
    call("POST", "/v1/virtual/graphs", missing, status=201)
    call("POST", "/v1/virtual/graphs/{id}/query", {"query": query}, status=502, id="missing")
    for name in ["trips", "missing"]:
        equal(call("DELETE", "/v1/virtual/graphs/{id}", id=name), {"id": name, "deleted": True}, "deletion")
    call("GET", "/v1/virtual/graphs/{id}", status=404, id="trips")


def batch():
    operations = [
        {"type": "insert", "event_ts": 200, "members": [1, 2]},
        {"type": "insert", "event_ts": 201, "members": [2]},
        {"type": "delete", "event_ts": 200, "members": [2, 1]},
    ]
    done = call("POST", "/v1/batch", {"operations": operations})
    has(done, committed=True, ops_total=3, ops_success=3)
    equal([(result["op"], result["type"], result["success"]) for result in done["results"]],
          [(0, "insert", True), (1, "insert", True), (2, "delete", True)], "results")
    failed = call("POST", "/v1/batch", {"operations": [*operations, {"type": "insert", "event_ts": 1, "members": []}]})
    has(failed, committed=False, ops_total=4, ops_success=3)
    has(call("GET", "/v1/hyperedges", query={"start_ts": 200, "end_ts": 201}), num_tuples=1)


def backup():
    made = call("POST", "/v1/backup", {"compact_first": True})
    has(made, tables=["hyperedges", "memories", "things"], compact_first=True)
    with tarfile.open(made["path"], "r:gz") as archive:
        expect(len(archive.getnames()) > 1, "the backup is empty")
    call("POST", "/v1/backup", {"backup_dir": "../outside"}, status=400)


def keys():
    listed = call("GET", "/v1/keys")
    expect(isinstance(listed, list) and len(listed) == 1, "/v1/keys is no bare array of one key")
    has(listed[0], role="admin", expires_at=None)
    made = call("POST", "/v1/keys", {"role": "readonly", "description": "plain"})
    has(made, role="readonly", description="plain")
    expect(made["plaintext_key"].startswith("hgr_"), "a key without its prefix")
    equal(sorted(key["key_id"] for key in call("GET", "/v1/keys")), sorted([listed[0]["key_id"], made["key_id"]]), "keys")
    call("GET", "/v1/tables", key=made["plaintext_key"])
    call("POST", "/v1/tables", {"name": "x"}, key=made["plaintext_key"], status=403)
    revoked = call("DELETE", "/v1/keys/{key_id}", key_id=made["key_id"])
    equal(revoked, {"key_id": made["key_id"], "revoked": True}, "revocation")
    call("GET", "/v1/tables", key=made["plaintext_key"], status=401)
    call("DELETE", "/v1/keys/{key_id}", key_id=listed[0]["key_id"], status=409)


def description():
    document = call("GET", "/openapi.json", key=None)
    equal(document["openapi"][:4], "3.1.", "version of OpenAPI")
    page = call("GET", "/docs", key=None)
    expect("<html" in page.lower(), "/docs is no page")
    call("GET", "/docs/{file}", file="start.js", key=None)
    page = call("GET", "/", key=None)
    expect("<html" in page.lower(), "/ is no page")
    call("GET", "/console/{file}", file=re.search(r'console/([\w.-]+\.js)"', page).group(1), key=None)
    return {
        (method.upper(), path)
        for path, operations in document["paths"].items()
        for method in operations
        if method in ("get", "post", "put", "delete", "patch")
    }


health()
tables()
nodes()
indexes()
hyperedges()
changes()
maintenance()
query()
analytics()
rules()
reason()
memory()
virtual()
batch()
backup()
keys()
described = description()
equal(sorted(described - visited), [], "routes that this client left out")
equal(sorted(visited - described), [], "routes that /openapi.json leaves out")
print(f"all {len(described)} routes")
