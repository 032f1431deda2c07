"""Times measures of graphs with igraph or networkx: python3 analytics-peers.py LIBRARY ROUNDS < graphs.json

Input: [{"vertices": n, "pairs": [[a, b], ...], "measures": [name, ...]}, ...]. Output: {"version": text, "graphs": [{name: {"ms": best CPU time, "values": [...]}}]}.
The graph is made before the clock starts. betweenness: pairs counted once, not normalized. closeness: of those reached, their number / the sum of distances.
"""

import json
import math
import sys
import time

# No more rounds of a measure once they took so long.
MOST_SECONDS = 4


def with_igraph(vertices, pairs):
    import igraph

    graph = igraph.Graph(n=vertices, edges=pairs)
    return igraph.__version__, {
        "betweenness": lambda: graph.betweenness(),
        "closeness": lambda: [0 if math.isnan(value) else value for value in graph.closeness()],
        "clustering": lambda: graph.transitivity_local_undirected(mode="zero"),
        "clique number": lambda: [graph.clique_number()],
        "pagerank": lambda: graph.pagerank(damping=0.85),
    }


def with_networkx(vertices, pairs):
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(pairs)

    def in_order(values):
        return [values[v] for v in range(vertices)]

    return networkx.__version__, {
        "betweenness": lambda: in_order(networkx.betweenness_centrality(graph, normalized=False)),
        "closeness": lambda: in_order(networkx.closeness_centrality(graph, wf_improved=False)),
        "clustering": lambda: in_order(networkx.clustering(graph)),
    }


def measured(work, rounds):
    best = math.inf
    begin = time.process_time()
    for _ in range(rounds):
        start = time.process_time()
        values = work()
        end = time.process_time()
        best = min(best, end - start)
        if end - begin > MOST_SECONDS:
            break
    return {"ms": best * 1000, "values": list(values)}


def main():
    make = {"igraph": with_igraph, "networkx": with_networkx}[sys.argv[1]]
    rounds = int(sys.argv[2])
    version = ""
    graphs = []
    for each in json.load(sys.stdin):
        version, measures = make(each["vertices"], each["pairs"])
        graphs.append({name: measured(measures[name], rounds) for name in each["measures"] if name in measures})
    json.dump({"version": version, "graphs": graphs}, sys.stdout)


main()
