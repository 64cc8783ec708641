import stat

from moreplr._files import whole_file


def test_files_get_the_usual_permissions_and_links_stay(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with whole_file(str(tmp_path / "link.txt")) as name, open(name, "w") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    usual = tmp_path / "usual.txt"
    usual.write_text("")
    mode = stat.S_IMODE(usual.stat().st_mode)
    assert stat.S_IMODE((tmp_path / "real.txt").stat().st_mode) == mode
