"""Turns the JSON lines of one benchmark run into a table, and appends them to the record of this machine and day."""
import json
import platform
import sys

JOBS = [  # job, policy, the peers' name for it, at least this many times less than the fastest peer
    ("a", "softelim", None, 3),
    ("b", "softelim", None, 3.5),
    ("e", "ucb1", "UCB1", 4),
    ("e", "softelim", "SoftElim", 4),
    ("e", "thompson", "TS", 8),
]
CONTEXTUAL = {("cosoftelim", 8): 7, ("cosoftelim", 36): 5, ("cosoftelim", 123): 4, ("cosoftelim rank 8", 123): 20}


def cpu_name():
    try:
        with open("/proc/cpuinfo") as info:
            return next(line.split(":", 1)[1].strip() for line in info if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main(lines_path, record_path):
    with open(lines_path) as file:
        rows = [json.loads(line) for line in file if line.startswith("{")]
    with open(record_path, "a") as record:
        for row in [{"bench": "machine", "cpu": cpu_name(), "system": platform.system()}] + rows:
            record.write(json.dumps(row) + "\n")

    ns = "cpu_ns_per_policy_round"
    ours = lambda job, policy: min(r[ns] for r in rows if r.get("lib") == "gradband" and (r["job"], r["variant"]) == (job, policy))
    floor = {job: min((r[ns] for r in rows if r.get("bench") == "floor" and r["job"] == job), default=None) for job in "ab"}
    print(f"\n{'job':4}{'policy':10}{'gradband':>10}{'floor':>8}{'fastest peer':>24}{'ratio':>8}{'goal':>6}   (ns of one core per policy-round)")
    for job, policy, theirs, goal in JOBS:
        def is_rival(row):
            if row.get("peer") != job.upper():
                return False
            return theirs is None or row["variant"] == theirs or (theirs == "SoftElim" and row["variant"].startswith("SoftElim"))
        mine = ours(job, policy)
        low = f"{floor[job]:8.2f}" if floor.get(job) else " " * 8
        rivals = sorted((row[ns], f"{row['lib']} {row['variant']}") for row in rows if is_rival(row))
        rival = f"{rivals[0][1][:16]:>17}{rivals[0][0]:7.1f}{rivals[0][0] / mine:8.2f}{goal:6}" if rivals else ""
        print(f"{job:4}{policy:10}{mine:10.2f}{low}{rival}")
    contextual = [row for row in rows if row.get("job") == "c" and row["bench"] == "job"]
    floors = {(row["variant"], row["d"]): row[ns] for row in rows if row.get("job") == "c" and row["bench"] == "floor"}
    if contextual:
        print(f"\n{'job c, one iteration':28}{'d':>5}{'K':>4}{'gradband':>10}{'floor':>8}{'fastest peer':>24}{'ratio':>8}{'goal':>6}   (ns of one core per policy-round)")
    for variant in dict.fromkeys(row["variant"] for row in contextual):
        for size in dict.fromkeys((row["d"], row["K"]) for row in contextual):
            mine = min((row[ns] for row in contextual if (row["d"], row["K"]) == size and row["variant"] == variant), default=None)
            if mine is None:
                continue
            low = f"{floors[variant, size[0]]:8.0f}" if (variant, size[0]) in floors else " " * 8
            rivals = sorted((row[ns], f"{row['lib']} {row['variant']}") for row in rows if row.get("peer") == "C" and (row["d"], row["K"]) == size)
            goal = CONTEXTUAL.get((variant, size[0]))
            rival = f"{rivals[0][1][:16]:>17}{rivals[0][0]:7.0f}{rivals[0][0] / mine:8.2f}{goal:6}" if rivals and goal else ""
            print(f"{variant:28}{size[0]:5}{size[1]:4}{mine:10.0f}{low}{rival}")
    lstm = [row for row in rows if row.get("job") == "d" and row["bench"] == "job"]
    for variant in dict.fromkeys(row["variant"] for row in lstm):
        mine = min(row["cpu_s"] for row in lstm if row["variant"] == variant)
        peers = [row["cpu_s"] for row in rows if row.get("peer") == "D"]
        rival = f", jax {min(peers):.3f} s, ratio {min(peers) / mine:.2f} (goal 2.1)" if peers and variant == "self" else ""
        print(f"job d, one iteration of the LSTM, {variant}: {mine:.3f} s{rival}")
    products = [row[ns] * 2e5 * 1e-9 for row in rows if row.get("job") == "d" and row["bench"] == "floor"]
    if products:
        print(f"  its matrix products alone, self: {min(products):.3f} s")
    tables = [row["cpu_s"] for row in rows if row.get("bench") == "exact" and row["job"] == "f"]
    peers = [row["cpu_s"] for row in rows if row.get("peer") == "F"]
    if tables:
        rival = f", numba {min(peers):.2f} s, ratio {min(peers) / min(tables):.1f} (goal 7)" if peers else ""
        print(f"\njob f, Gittins table at n = 200: {min(tables):.2f} s{rival}")
    for row in rows:
        if row.get("bench") == "exact" and row["job"] != "f":
            print(f"exact {row['variant']} at n = 200: {row['cpu_s']:.2f} s")
    print(f"\n{'policy':22}{'arms':>5}{'one lane':>10}{'all lanes':>10}{'gain':>6}{'million rounds/s':>18}")
    for row in rows:
        if row.get("bench") == "policy":
            print(f"{row['policy']:22}{row['arms']:5}{row['one_lane_ns']:10.1f}{row['all_lanes_ns']:10.2f}{row['gain']:6.1f}{row['rounds_per_second'] / 1e6:18.0f}")
        elif row.get("bench") == "threads":
            job = {"registers": "nothing but arithmetic in registers"}.get(row["job"], f"job {row['job']}")
            print(f"two threads, {job}: {row['speedup']:.2f} times the throughput of one")
    general = [row for row in rows if row.get("bench") == "general"]
    if general:
        print(f"\n{'general engine':22}{'arms':>5}{'rewards':>12}{'ns':>8}")
    for row in general:
        print(f"{row['policy']:22}{row['arms']:5}{row['problem']:>12}{row['ns']:8.1f}")
    own = [row for row in rows if row.get("bench") == "own"]
    if own:
        print(f"\n{'own rule':22}{'problem':>14}{'task':>10}{'built in':>10}{'own':>8}{'ratio':>7}   (at most 15)")
    for row in own:
        print(f"{row['policy']:22}{row['problem']:>14}{row['task']:>10}{row['built_in_ns']:10.2f}{row['own_ns']:8.1f}{row['ratio']:7.1f}")
    agents = [row for row in rows if row.get("bench") == "agent"]
    if agents:
        print(f"\n{'agent':22}{'arms':>5}{'features':>10}{'pull + update':>15}   (ns; at most 300 for softelim, K = 10, and 6000 for soft-ucb, d = 20)")
    for row in agents:
        print(f"{row['policy']:22}{row['arms']:5}{row['dim'] or '':>10}{row['pull_and_update_ns']:15}")
    print(f"\nrecord: {record_path}")


main(*sys.argv[1:])
