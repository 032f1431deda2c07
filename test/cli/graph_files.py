# Reads graph files with NetworkX and prints them as JSON, a line for each file, for graph-networkx.test.ts:
#
# python3 graph_files.py FILE...      files whose names end with .graphml or .gexf
#
# {"nodes": {id: attributes}, "edges": [[id, id, attributes], ...], "degrees": {id: degree}, "graph": attributes}

import json
import sys
import warnings

import networkx

# A warning, for instance of a key without a type, is a fault of the file.
warnings.simplefilter("error")

for path in sys.argv[1:]:
    read = networkx.read_graphml if path.endswith(".graphml") else networkx.read_gexf
    graph = read(path)
    if graph.is_directed() or graph.is_multigraph():
        sys.exit(f"{path} is read as {type(graph).__name__}")
    print(
        json.dumps(
            {
                "nodes": dict(graph.nodes(data=True)),
                "edges": list(graph.edges(data=True)),
                "degrees": dict(graph.degree),
                "graph": {key: value for key, value in graph.graph.items() if isinstance(value, str)},
            },
            allow_nan=False,
        )
    )
