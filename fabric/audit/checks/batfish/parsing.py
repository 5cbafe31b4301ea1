"""Did Batfish read the files for what they are?"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, Finding
from fabric.audit.checks.batfish.allow import reason
from fabric.audit.checks.batfish.checks import AskedFiles, BatfishCheck, file_lines, name_of

READ = ("PASSED", "PARTIALLY_UNRECOGNIZED")  # lines that are not recognized are warnings of their own


class Formats(BatfishCheck):
    """Compares the format that Batfish detects with that of the network OS.

    Batfish detects the format by a few words. A wrong guess is no failure: it parses an EOS file as IOS, reports success,
    and models a switch that does not exist. So the format is checked before any other result.
    """

    id = "FAB301"
    title = "Batfish parses every file in its own format"
    severity = ERROR
    example = "expected ARISTA, got CISCO_IOS"
    remediation = "restore the line by which Batfish detects the format, or remove the override that changes it"

    def check(self, asked: AskedFiles) -> Iterator[Finding]:
        rows = {row["File_Name"]: row for row in asked.answers.file_status()}
        for copies in asked.snapshot.copies.values():
            for copy in copies.copies:
                row = rows.get(copy.path)
                if row is None:
                    yield from self.in_copy(
                        asked, copy.path, 0, f"Batfish reports no format for this file; expected {copy.format}"
                    )
                elif row["File_Format"] != copy.format:
                    yield from self.in_copy(
                        asked, copy.path, 0, f"file format: expected {copy.format}, got {row['File_Format']}"
                    )
                elif row["Status"] not in READ:
                    yield from self.in_copy(asked, copy.path, 0, f"Batfish cannot parse this file: {row['Status'].lower()}")


class Warnings(BatfishCheck):
    """Compares the parse warnings of Batfish with the list of lines that it does not support.

    A line that cannot be parsed has a typing error, or Batfish does not support it. The second kind is on a list with a
    reason for each; every other warning is a finding.
    """

    id = "FAB302"
    title = "Batfish reports no parse errors in supported syntax"
    severity = ERROR
    example = "`neighbor 10.64.0.1 remot-as 65101`"
    remediation = "correct the line, or suppress FAB302 with a reason if the line is valid and Batfish does not support it"

    def check(self, asked: AskedFiles) -> Iterator[Finding]:
        for row in asked.answers.init_issues():
            line, details = (row["Line_Text"] or "").strip(), (row["Details"] or "").strip()
            message = f"{row['Type']}: {details.splitlines()[0][:160] if details else 'no details'}"
            for path, number in file_lines(row["Source_Lines"]):
                copy = asked.snapshot.copy_at(path)
                if copy and not reason(copy.nos, *_subject(line, details), copy.context(path, number)):
                    yield from self.in_copy(asked, path, number, f"{message}: {line}" if line else message)
            for node in map(name_of, row["Nodes"] or ()):
                copies = asked.snapshot.copies.get(node)
                if copies and not reason(copies.nos, *_subject(line, details)):
                    yield from self.at_switch(asked, node, message)


def _subject(line: str, details: str) -> tuple[str, str]:
    """What a warning is about, as the list has it: a line, or else its own text."""
    return ("lines", line) if line else ("details", details)


class References(BatfishCheck):
    """Looks for structures that Batfish reports as used and not defined.

    A policy that references a missing list permits everything or nothing, depending on the network OS.
    """

    id = "FAB303"
    title = "Batfish finds no undefined references"
    severity = ERROR
    example = "`match ip address prefix-list LOOPBACKS`, and no list LOOPBACKS"
    remediation = "define the structure, or remove the reference to it"

    def check(self, asked: AskedFiles) -> Iterator[Finding]:
        for row in asked.answers.undefined():
            what = f"{row['Struct_Type']} {row['Ref_Name']}"
            for path, line in file_lines(row["Lines"]):
                copies = asked.snapshot.copy_at(path)
                if copies and not reason(copies.nos, "references", what, paths=copies.paths):
                    yield from self.in_copy(asked, path, line, f"{what} is used ({row['Context']}), but not defined")
