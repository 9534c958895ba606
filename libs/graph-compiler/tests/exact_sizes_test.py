#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rates, horizons, depths, slot counts and slot bytes of random plans, computed again.

Reads what the operators of a plan state and works out the rest by recursion over fractions of
unbounded size, with no code of the compiler's. Every record must be the same, and so must the
diagnostics: a number is refused exactly when it has no 64-bit terms.
"""
import collections
import json
import subprocess
import sys
from fractions import Fraction

BITS64 = 2**64 - 1
DEEPEST = 65_536
MOST_SLOTS = 2**32 - 1
LARGEST_TENSOR = 2**63 - 1
RELEVANT = ("RATE_", "QUEUE_", "CONTRACT_HORIZON_", "PHYSICAL_TENSOR_BYTE_SPAN_")


def fits(value):
    return value.numerator <= BITS64 and value.denominator <= BITS64


def fraction(stated, top, bottom):
    """What a port states; None when it is no positive number."""
    if stated[top] == 0 or stated[bottom] == 0:
        return None
    return Fraction(stated[top], stated[bottom])


def rate(stated):
    return fraction(stated, "samples", "seconds")


def spell(value):
    return None if value is None else str(value)


class Expected:
    def __init__(self, plan):
        self.plan = plan
        self.ops = plan["operators"]
        self.findings = collections.Counter()
        self.outputs = {}
        self.horizons = {}
        self.bounds = {}
        self.headroom = Fraction(plan["queue_sizing_recipes"][0]["headroom"]) if plan[
            "queue_sizing_recipes"] else None

    def name(self, port, side):
        op = self.ops[port["vertex"]]
        return op["path"] + "." + op[side][port["port"]]["name"]

    def edge_name(self, edge):
        return self.name(edge["source"], "outputs") + " -> " + self.name(edge["target"], "inputs")

    def find(self, token, place):
        self.findings[token, place] += 1

    def edge_into(self, vertex, port):
        into = [e for e in self.plan["payload_edges"]
                if e["target"] == {"vertex": vertex, "port": port}]
        assert len(into) == 1
        return into[0]

    def bound(self, vertex, port):
        """The largest tensor of an output, or None."""
        if (vertex, port) not in self.bounds:
            formulas = [d for d in self.plan["tensor_byte_span_derivations"]
                        if d["output"] == {"vertex": vertex, "port": port}]
            if formulas:
                value = self.formula(formulas[0])
            else:
                tensor = self.ops[vertex]["outputs"][port]["tensor"]
                value = tensor and tensor["max_byte_span"]
            self.bounds[vertex, port] = value
        return self.bounds[vertex, port]

    def formula(self, derivation):
        vertex = derivation["output"]["vertex"]
        op = self.ops[vertex]
        place = self.name(derivation["output"], "outputs")
        values = {f["path"]: f["value"] for f in op["parameters"]["fields"]}
        output = op["outputs"][derivation["output"]["port"]]
        element = {"uint8": 1}[output["tensor"]["representation"]["dtype"]]
        known = []

        def counted(value):
            if value > LARGEST_TENSOR:
                self.find("PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW", place)
                return None
            return value

        def leaf(node):
            if node["operation"] == "literal":
                return node["operand"]
            if node["operation"] == "parameter_contiguous":
                shape = values[node["parameters"][0]]
                if min(shape) < 1:
                    self.find("PHYSICAL_TENSOR_BYTE_SPAN_INVALID", place)
                    return None
                product = element
                for extent in shape:
                    product *= extent
                return counted(product)
            if node["operation"] == "parameter_projected":
                assert node["projection_id"] == "test.fixed"
                return values["fixed"]
            assert node["operation"] == "input_maximum"
            source = self.edge_into(vertex, node["input"])["source"]
            value = self.bound(source["vertex"], source["port"])
            tensor = self.ops[source["vertex"]]["outputs"][source["port"]]["tensor"]
            if value is None and tensor["storage"] == "pass_through":
                self.find("PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED", place)
            return value

        for node in derivation["nodes"]:
            if node["left"] is None:
                known.append(leaf(node))
                continue
            left = known[node["left"]]
            right = node["operand"] if node["right"] is None else known[node["right"]]
            if left is None or right is None:
                known.append(None)
            elif node["operation"] == "multiply":
                known.append(counted(left * right))
            elif node["operation"] == "ceiling_divide":
                known.append(-(-left // right))
            elif node["operation"] == "maximum":
                known.append(max(left, right))
            else:
                assert node["operation"] == "align"
                known.append(counted(-(-left // right) * right))
        assert [n["resolved_value"] for n in derivation["nodes"]] == known, (derivation, known)
        return known[-1]

    # (basis, nominal, maximum, root, factor)
    def output(self, vertex, port):
        if (vertex, port) not in self.outputs:
            self.outputs[vertex, port] = self.state_output(vertex, port)
        return self.outputs[vertex, port]

    def state_output(self, vertex, port):
        none = ("unresolved", None, None, None, None)
        stated = self.ops[vertex]["outputs"][port]["rate"]
        place = self.name({"vertex": vertex, "port": port}, "outputs")
        if stated is None:
            return ("undeclared", None, None, None, None)
        if stated["kind"] == "fixed_nominal":
            value = rate(stated["rate"])
            if value is None:
                self.find("RATE_INVALID", place)
                return none
            return ("declared", value, value, (vertex, port), Fraction(1))
        if stated["kind"] == "lifecycle_nominal":
            value = rate(stated["rate"])
            top = rate(stated["maximum"]) if stated["maximum"] else None
            if value is None:
                self.find("RATE_INVALID", place)
            if stated["maximum"] and top is None:
                self.find("RATE_INVALID", place)
            if value is None or (stated["maximum"] and top is None):
                return none
            if top is not None and value > top:
                self.find("RATE_ABOVE_MAXIMUM", place)
                return none
            return ("declared", value, top, (vertex, port), Fraction(1))
        assert stated["kind"] == "follows_input"
        if stated["follows_input"] >= len(self.ops[vertex]["inputs"]):
            self.find("RATE_FOLLOWS_UNKNOWN", place)
            return none
        ratio = fraction(stated["ratio"], "numerator", "denominator")
        if ratio is None:
            self.find("RATE_RATIO_INVALID", place)
            return none
        _, nominal, maximum, root, factor = self.upstream(vertex, stated["follows_input"])
        if nominal is None:
            return none
        products = [nominal * ratio, factor * ratio]
        if maximum is not None:
            products.append(maximum * ratio)
        if not all(fits(p) for p in products):
            self.find("RATE_OVERFLOW", place)
            return none
        return ("followed", products[0], None if maximum is None else maximum * ratio, root,
                products[1])

    def upstream(self, vertex, port):
        source = self.edge_into(vertex, port)["source"]
        basis, *rest = self.output(source["vertex"], source["port"])
        return ("upstream" if rest[0] is not None else basis, *rest)

    def selectable(self, root):
        return self.ops[root[0]]["outputs"][root[1]]["rate"]["kind"] == "lifecycle_nominal"

    def horizon(self, edge):
        if edge["edge"] not in self.horizons:
            self.horizons[edge["edge"]] = self.state_horizon(edge)
        return self.horizons[edge["edge"]]

    def state_horizon(self, edge):
        vertex, port = edge["target"]["vertex"], edge["target"]["port"]
        stated = self.ops[vertex]["inputs"][port]["accumulates_over"]
        if stated:
            value = fraction(stated, "numerator", "denominator")
            if value is None:
                self.find("CONTRACT_HORIZON_INVALID", self.name(edge["target"], "inputs"))
                return ("none", None)
            return ("declared", value)
        trigger = self.ops[vertex]["trigger"]
        if port not in trigger["inputs"]:
            return self.side_horizon(edge, trigger)
        if trigger["kind"] == "window":
            return ("window_wait", Fraction(trigger["max_wait_ns"], 10**9))
        if trigger["kind"] == "aligned":
            return self.partners(edge, trigger, trigger["window_ns"], "aligned_partner")
        return ("none", None)

    def side_horizon(self, edge, trigger):
        """What is not waited for: taken with each activation, or into a cache as it comes."""
        selection = self.plan["edge_selections"][edge["edge"]]
        if selection["selector"] == "latest_within":
            return ("none", None)
        if selection["selector"] == "bracketed_window":
            length = selection["lookbehind_ns"] + selection["lookahead_ns"]
            return ("bracket", Fraction(length + (trigger["max_wait_ns"] or 0), 10**9))
        if trigger["kind"] == "clock":
            return ("activation_period", Fraction(trigger["period_ns"], 10**9))
        if trigger["kind"] not in ("each", "aligned", "window"):
            return ("none", None)
        more = {"each": 0, "aligned": trigger["window_ns"], "window": trigger["max_wait_ns"]}
        return self.partners(edge, trigger, more[trigger["kind"]], "activation_period")

    def partners(self, edge, trigger, more_ns, basis):
        vertex, port = edge["target"]["vertex"], edge["target"]["port"]
        periods = []
        for other in trigger["inputs"]:
            if other == port:
                continue
            _, nominal, _, root, _ = self.upstream(vertex, other)
            if nominal is None:
                return ("partner_unknown", None)
            if self.selectable(root):
                return ("partner_selectable", None)
            periods.append(1 / nominal)
        seconds = max(periods) + Fraction(more_ns, 10**9)
        if not fits(seconds):
            self.find("RATE_OVERFLOW", self.edge_name(edge))
            return ("partner_unknown", None)
        return (basis, seconds)

    def cache(self, edge):
        """Samples held outside the queue: the selector's, those to reuse, open windows' anchors."""
        trigger = self.ops[edge["target"]["vertex"]]["trigger"]
        selection = self.plan["edge_selections"][edge["edge"]]
        most = selection["max_selected_samples"]
        triggers = edge["target"]["port"] in trigger["inputs"]
        own = {"exact": 0, "latest_within": 1, "drain_all": most,
               "bracketed_window": most + 1}[selection["selector"]]
        reuse = most if selection["missing"] == "reuse_last" else 0
        pending = trigger["max_pending_windows"] if triggers and trigger["kind"] == "window" else 0
        return own, reuse, pending

    def input(self, vertex, port):
        basis, nominal, maximum, root, factor = self.upstream(vertex, port)
        stated = self.ops[vertex]["inputs"][port]["expected_rate"]
        place = self.name({"vertex": vertex, "port": port}, "inputs")
        if stated is None:
            return basis, nominal, maximum, root, factor
        hint = rate(stated)
        if hint is None:
            self.find("RATE_INVALID", place)
        elif nominal is not None:
            could = self.selectable(root) and (maximum is None or hint <= maximum)
            if hint != nominal and not could:
                self.find("RATE_EXPECTATION_DIFFERS", place)
        elif basis == "undeclared" and self.horizon(self.edge_into(vertex, port))[1] is not None:
            return "expected", hint, hint, None, None
        return basis, nominal, maximum, root, factor

    def edge(self, edge, inputs):
        """The recipe, the depth, where it is from, and the deepest admitted depth."""
        place = self.edge_name(edge)
        source = edge["source"]
        burst = self.ops[source["vertex"]]["outputs"][source["port"]]["max_emits_per_compute"]
        target = edge["target"]
        floor = 1
        if edge["queue_policy"] == "blocking":
            # The first sample beyond its reference stays for the selector.
            stays = self.plan["edge_selections"][edge["edge"]]["selector"] != "drain_all"
            side = target["port"] not in self.ops[target["vertex"]]["trigger"]["inputs"]
            floor = burst + (1 if side and stays else 0)
        basis, nominal, maximum, _, _ = inputs[target["vertex"], target["port"]]
        hinted = self.ops[target["vertex"]]["inputs"][target["port"]]["expected_rate"] is not None
        seconds = self.horizon(edge)[1]
        arrivals = recommended = ceiling = None
        if basis == "unresolved":
            evidence = "rate_unresolved"
        elif nominal is None and (not hinted or seconds is not None):
            evidence = "rate_undeclared"
        elif nominal is None or seconds is None:
            evidence = "horizon_absent"
        elif maximum is None:
            evidence = "rate_without_maximum"
        else:
            def sized(per_second):
                came = -(-per_second * seconds // 1)
                return int(came), int(-(-came * self.headroom // 1))
            active, top = sized(nominal), sized(maximum)
            if max(active + top) > BITS64:
                evidence = "size_overflow"
            else:
                evidence = "sufficient"
                arrivals, recommended = active
                ceiling = max(floor, top[1])
        if edge["depth_origin"] == "explicit":
            depth = admitted = edge["queue_depth"]
            if depth < floor:
                self.find("QUEUE_DEPTH_BELOW_FLOOR", place)
            elif evidence == "size_overflow" or (recommended is not None and depth < recommended):
                self.find("QUEUE_DEPTH_BELOW_RECOMMENDATION", place)
            origin = "explicit"
        elif evidence == "sufficient":
            origin, depth, admitted = "automatic", max(floor, recommended), ceiling
            if admitted > DEEPEST:
                self.find("QUEUE_DEPTH_TOO_LARGE", place)
        else:
            origin = "default"
            depth = admitted = max(floor, min(max(4, 2 * burst), DEEPEST))
            if evidence == "size_overflow":
                self.find("QUEUE_SIZING_OVERFLOW", place)
        return evidence, arrivals, recommended, ceiling, floor, depth, origin, admitted

    def slots(self, pool, depths):
        """Distinct slots behind a pool's output, by depths of the edges."""
        seen = set()

        def passes_through(output):
            pooled = output["tensor"] and output["tensor"]["storage"] == "runtime_pool"
            return output["payload"]["kind"] == "tensor" and not pooled

        def behind(vertex, port):
            if (vertex, port) in seen:
                return 0
            seen.add((vertex, port))
            longest = own = further = 0
            for edge in self.plan["export_edges"]:
                if edge["source"] == {"vertex": vertex, "port": port}:
                    topic = self.plan["endpoint_catalog"]["endpoints"][edge["endpoint"]]
                    longest = max(longest, topic["queue_depth"])
                    own += topic["max_subscribers"] * topic["max_borrowed_samples"]
            own += self.ops[vertex]["outputs"][port]["late_joiner_history_depth"]
            for edge in self.plan["payload_edges"]:
                if edge["source"] != {"vertex": vertex, "port": port}:
                    continue
                target = edge["target"]
                consumer = self.ops[target["vertex"]]
                blocking = edge["queue_policy"] == "blocking"
                longest = max(longest, depths[edge["edge"]] + (1 if blocking else 0))
                own += 0 if blocking else 1
                own += consumer["inputs"][target["port"]]["retained_samples"]
                own += sum(self.cache(edge))
                if pool["device"] is not None and consumer["stream"] is not None:
                    own += 2 * self.plan["edge_selections"][edge["edge"]]["max_selected_samples"]
                for number, output in enumerate(consumer["outputs"]):
                    if passes_through(output):
                        further += behind(target["vertex"], number)
            return longest + own + further

        output = pool["output"]
        burst = self.ops[output["vertex"]]["outputs"][output["port"]]["max_emits_per_compute"]
        return burst + behind(output["vertex"], output["port"])


def check_selection(want, edge, counts):
    selection = want.plan["edge_selections"][edge["edge"]]
    trigger = want.ops[edge["target"]["vertex"]]["trigger"]
    port = edge["target"]["port"]
    own, reuse, pending = want.cache(edge)
    assert selection["edge"] == edge["edge"]
    assert selection["triggering"] == (port in trigger["inputs"]), selection
    assert selection["selector_cache"] == own, (selection, own)
    assert selection["reuse_cache"] == reuse, (selection, reuse)
    assert selection["pending_cache"] == pending, (selection, pending)
    assert selection["cache_capacity"] == own + reuse + pending, selection
    batch = selection["selector"] in ("drain_all", "bracketed_window")
    assert selection["cardinality"] == ("batch" if batch else "one"), selection
    assert batch or selection["max_selected_samples"] == 1, selection
    sure = selection["triggering"] and (
        trigger["kind"] != "any_input" or len(want.ops[edge["target"]["vertex"]]["inputs"]) == 1)
    assert (port in trigger["presence_guaranteed_inputs"]) == sure, (selection, trigger)
    assert (selection["missing"] is None) == selection["triggering"], selection
    states = {"clock": 1, "window": trigger["max_pending_windows"], "each": 0, "any_input": 0,
              "aligned": 0, "spin": 1}
    if trigger["kind"] in states:
        assert trigger["bounded_state_capacity"] == states[trigger["kind"]], trigger
    counts[selection["selector"]] += 1
    counts["trigger " + trigger["kind"]] += 1


def check(plan, counts):
    want = Expected(plan)
    inputs = {}
    for vertex, op in enumerate(want.ops):
        for port in range(len(op["outputs"])):
            want.output(vertex, port)
        for port in range(len(op["inputs"])):
            inputs[vertex, port] = want.input(vertex, port)
    for record in plan["port_rates"]:
        at = record["port"]["vertex"], record["port"]["port"]
        basis, nominal, maximum, root, factor = (
            want.outputs[at] if record["role"] == "output" else inputs[at])
        assert record["basis"] == basis, (record, basis)
        assert record["nominal"] == spell(nominal), (record, nominal)
        assert record["maximum"] == spell(maximum), (record, maximum)
        assert record["factor"] == spell(factor), (record, factor)
        assert record["root"] == (root and {"vertex": root[0], "port": root[1]}), (record, root)
        counts[basis] += 1
    ports = sum(len(op["inputs"]) + len(op["outputs"]) for op in want.ops)
    assert len(plan["port_rates"]) == ports

    for derivation in plan["tensor_byte_span_derivations"]:
        at = derivation["output"]["vertex"], derivation["output"]["port"]
        value = want.bound(*at)
        assert derivation["resolved_bytes"] == value, (derivation, value)
        stated = want.ops[at[0]]["outputs"][at[1]]["tensor"]["max_byte_span"]
        assert stated == value, (derivation, stated)
        counts["bytes derived" if value else "bytes unknown"] += 1

    active, admitted = {}, {}
    for edge in plan["payload_edges"]:
        number = edge["edge"]
        basis, seconds = want.horizon(edge)
        horizon = plan["accumulation_horizons"][number]
        assert (horizon["basis"], horizon["seconds"]) == (basis, spell(seconds)), horizon
        recipe = plan["queue_sizing_recipes"][number]
        evidence, arrivals, recommended, ceiling, floor, depth, origin, top = want.edge(edge, inputs)
        assert recipe["evidence"] == evidence, (recipe, evidence)
        assert recipe["nominal_arrivals"] == arrivals, (recipe, arrivals)
        assert recipe["recommendation"] == recommended, (recipe, recommended)
        assert recipe["admitted_ceiling"] == ceiling, (recipe, ceiling)
        assert recipe["hard_floor"] == floor, (recipe, floor)
        assert recipe["horizon"] == spell(seconds), recipe
        assert edge["depth_origin"] == origin, (edge, origin)
        # A depth beyond 32 bits is not known; the plan is refused anyway.
        assert edge["queue_depth"] == (depth if depth <= MOST_SLOTS else None), (edge, depth)
        if top <= MOST_SLOTS:
            assert recipe["admitted_depth"] == top, (recipe, top)
        check_selection(want, edge, counts)
        active[number], admitted[number] = depth, top
        counts[evidence] += 1
        counts[basis] += 1

    if max(admitted.values(), default=0) <= DEEPEST:
        for pool, provider in zip(plan["tensor_allocations"], plan["provider_allocation_plans"]):
            now, most = want.slots(pool, active), want.slots(pool, admitted)
            span = want.bound(pool["output"]["vertex"], pool["output"]["port"])
            assert provider["entry_bytes"] == span, (provider, span)
            slot = None if span is None else -(-span // 256) * 256
            assert pool["slot_bytes"] == slot, (pool, slot)
            if slot is not None and slot * most > BITS64:
                assert pool["slot_count"] is None and not plan["accepted"], pool
                counts["bytes beyond 64 bits"] += 1
                continue
            assert pool["active_slot_count"] == now, (pool, now)
            assert pool["slot_count"] == most, (pool, most)
            assert provider["active_entries"] == now and provider["admitted_entries"] == most
            assert provider["active_bytes"] == (span and span * now), provider
            assert provider["admitted_bytes"] == (span and span * most), provider
            assert provider["reserved_bytes"] is None
            counts["pools"] += 1

    found = collections.Counter(
        (d["token"], d["place"]) for d in plan["diagnostics"] if d["token"].startswith(RELEVANT))
    bad_headroom = found.pop(("QUEUE_HEADROOM_INVALID", "automatic_queue_sizing"), 0)
    counts["bad headroom"] += bad_headroom
    assert found == want.findings, (found - want.findings, want.findings - found)
    for (token, _), times in found.items():
        counts[token] += times


def main():
    program, number = sys.argv[1], sys.argv[2]
    printed = subprocess.run([program, number], check=True, capture_output=True, text=True).stdout
    plans = [json.loads(line) for line in printed.splitlines()]
    assert len(plans) == int(number)
    counts = collections.Counter()
    for seed, plan in enumerate(plans):
        try:
            check(plan, counts)
        except AssertionError:
            print(f"seed {seed}", file=sys.stderr)
            raise
    # Each way was gone, and not once or twice.
    for way in ("declared", "followed", "upstream", "expected", "unresolved", "undeclared",
                "sufficient", "rate_undeclared", "rate_unresolved", "rate_without_maximum",
                "horizon_absent", "size_overflow", "none", "aligned_partner", "partner_unknown",
                "partner_selectable", "activation_period", "bracket", "window_wait", "exact",
                "latest_within", "drain_all", "bracketed_window", "trigger each", "trigger clock",
                "trigger aligned", "trigger window", "trigger spin", "trigger any_input", "pools", "RATE_INVALID", "RATE_ABOVE_MAXIMUM",
                "RATE_OVERFLOW", "RATE_EXPECTATION_DIFFERS", "RATE_FOLLOWS_UNKNOWN",
                "RATE_RATIO_INVALID", "CONTRACT_HORIZON_INVALID", "QUEUE_DEPTH_TOO_LARGE",
                "QUEUE_DEPTH_BELOW_FLOOR", "QUEUE_DEPTH_BELOW_RECOMMENDATION",
                "QUEUE_SIZING_OVERFLOW", "bad headroom", "bytes derived", "bytes unknown",
                "bytes beyond 64 bits", "PHYSICAL_TENSOR_BYTE_SPAN_INVALID",
                "PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW", "PHYSICAL_TENSOR_BYTE_SPAN_UNBOUNDED"):
        assert counts[way] > 5, (way, counts[way])
    print(f"{len(plans)} plans, {sum(counts.values())} facts: {dict(counts)}")


if __name__ == "__main__":
    main()
