// Owns a patch to the sample repository, written by hand: its first hunk has two parts, its second replaces two lines
// by three. It is no recorded run's; it fits the files of the recorded runs.
export const twoPartPatch = `diff --git a/tally/budget.py b/tally/budget.py
index 9982bee..e37fc70 100644
--- a/tally/budget.py
+++ b/tally/budget.py
@@ -12,9 +12,12 @@ def read_limits(lines):
         if not line or line.startswith("#"):
             continue
         category, sign, amount = line.partition("=")
+        category = category.strip().casefold()
         if not sign:
             raise ValueError(f"budget, line {number}: write it as category = amount")
-        limits[category.strip()] = parse_amount(amount)
+        if category in limits:
+            raise ValueError(f"budget, line {number}: {category} has a limit already")
+        limits[category] = parse_amount(amount)
     return limits
 
 
diff --git a/tally/filters.py b/tally/filters.py
index 849f642..a914974 100644
--- a/tally/filters.py
+++ b/tally/filters.py
@@ -9,8 +9,9 @@ def in_period(entry, since=date.min, until=date.max):
 
 
 def by_category(entries, category):
-    """The entries of one category."""
-    return [entry for entry in entries if entry.category == category]
+    """The entries of one category, whatever its case."""
+    wanted = category.casefold()
+    return [entry for entry in entries if entry.category.casefold() == wanted]
 
 
 def matching(entries, text):
`
