"""Did Batfish read the files for what they are?"""

from __future__ import annotations

from collections.abc import Iterator

from fabric.checks import ERROR, Finding
from fabric.checks.batfish.allow import reason
from fabric.checks.batfish.checks import AskedFiles, BatfishCheck, file_lines, name_of

READ = ("PASSED", "PARTIALLY_UNRECOGNIZED")  # lines that are not recognized are warnings of their own


class Formats(BatfishCheck):
    """Batfish guesses the format of a file from a few words in it. A wrong guess is no failure: it reads an EOS file as IOS,
    says that it passed, and models a switch that does not exist. So the guess is checked before anything else is believed."""

    id = "FAB301"
    title = "Batfish reads every file in its own format"
    severity = ERROR
    remediation = "an override may have taken out the line by which the format is known, or may not be in the format at all"

    def judge(self, asked: AskedFiles) -> Iterator[Finding]:
        rows = {row["File_Name"]: row for row in asked.answers.file_status()}
        for copies in asked.snapshot.copies.values():
            for copy in copies.copies:
                row = rows.get(copy.path)
                if row is None:
                    yield from self.in_copy(asked, copy.path, 0, f"expected {copy.format}, got no word about the file")
                elif row["File_Format"] != copy.format:
                    yield from self.in_copy(asked, copy.path, 0, f"expected {copy.format}, got {row['File_Format']}")
                elif row["Status"] not in READ:
                    yield from self.in_copy(asked, copy.path, 0, f"Batfish could not read it: {row['Status'].lower()}")


class Warnings(BatfishCheck):
    """A line that a parser does not know is a line with a typing error, or one that the parser's authors never met. The
    second kind is listed with a reason for each; every other warning is looked at by a person."""

    id = "FAB302"
    title = "Batfish knows every line, but for those on the list"
    severity = ERROR
    remediation = "fix the line; where it is right, Batfish does not know it: silence this check with that reason"

    def judge(self, asked: AskedFiles) -> Iterator[Finding]:
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
    """A policy that names a list which is not there permits all or nothing, as its network OS pleases."""

    id = "FAB303"
    title = "Everything that is referred to is defined"
    severity = ERROR
    remediation = "define it, or take the reference out"

    def judge(self, asked: AskedFiles) -> Iterator[Finding]:
        for row in asked.answers.undefined():
            what = f"{row['Struct_Type']} {row['Ref_Name']}"
            for path, line in file_lines(row["Lines"]):
                copies = asked.snapshot.copy_at(path)
                if copies and not reason(copies.nos, "references", what, paths=copies.paths):
                    yield from self.in_copy(asked, path, line, f"{what} is used ({row['Context']}) and not defined")
