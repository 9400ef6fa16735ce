"""Signatures, features and signers whose files were made up, with right checksums: run through tests/trials.py."""

import shutil

from tests.index.crafted import TEXTS, craft, read, write

import sosie
from sosie.signatures.files import load_features, load_signer
from sosie.signatures.registry import spec_from_dict
from sosie.signatures.signer import digest_of, statistics_of

SPECS = {
    "simhash": sosie.Simhash(bits=100),
    "tf-idf": sosie.Simhash(weighting="tf-idf"),
    "bm25": sosie.RandomProjection(bits=70, weighting="bm25"),
    "minhash": sosie.Minhash(),
    "topsig": sosie.TopSig(bits=128),
    "pstable": sosie.PStable(),
    "fuzzy": sosie.FuzzyFingerprint(),
    "svd": sosie.SvdEmbedding(dimensions=4, bits=64),
}


def make_signed(folder):
    """Save what signers of every family make, with the signers, and features beside some of them."""
    for name, spec in SPECS.items():
        signer = spec.fit(TEXTS)
        ids = [f"t{i}" for i in range(len(TEXTS))]
        keys = "signatures" not in spec.makes
        signed = signer.keys(TEXTS, ids=ids) if keys else signer.sign(TEXTS, ids=ids)
        features = spec.shingles.extract(TEXTS) if name in ("simhash", "minhash") else None
        sosie.save_signatures(folder / name, signed, signer, features)
        signer.save(folder / f"{name}-signer")


def attempt(folder, rng):
    """Change an artefact, write it with right checksums, and use whatever it holds."""
    bases = folder / "bases"
    if not bases.exists():
        bases.mkdir()
        make_signed(bases)
    base = rng.choice(sorted(bases.iterdir()))
    target = folder / "crafted"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    craft(target, rng)
    if rng.random() < 0.5:
        _with_right_digests(target)
    return use(target, with_rows=not base.name.endswith("-signer"))


def _with_right_digests(folder):
    """Write the digests that what is there should have, as far as it has any."""
    manifest, arrays = read(folder)
    try:
        spec = spec_from_dict(manifest["spec"])
        made = statistics_of(spec, manifest, arrays)
        for name in ("frequencies", "statistics"):
            if name in manifest and made is not None:
                manifest[name]["digest"] = made.digest
        manifest["digest"] = digest_of(spec, None if made is None else made.digest)
    except Exception:  # whatever it is, loading will meet it again
        return
    write(folder, manifest, arrays)


def use(folder, with_rows):
    """Sign with a signer; join, index and verify what is signed."""
    opened = _each(
        [lambda: _sign(load_signer(folder))]
        + [lambda: _join(sosie.load_signatures(folder)), lambda: _verify(load_features(folder)[0])] * with_rows,
        folder,
    )
    return "opened" if opened else "named"


def _each(steps, folder):
    opened = 0
    for step in steps:
        try:
            step()
            opened += 1
        except sosie.StorageError as error:
            assert str(folder) in str(error), "an error that does not say where"
        except sosie.SosieError:
            pass
    return opened


def _sign(signer):
    repr(signer)
    if "signatures" in signer.spec.makes:
        signer.sign(TEXTS[:3], threads=1)
    if "keys" in signer.spec.makes:
        signer.keys(TEXTS[:3], threads=1)
    signer.spec.similarity([0, 1])


def _join(signed):
    repr(signed)
    if isinstance(signed, sosie.Keys):
        sosie.join(signed, threads=1)
        sosie.KeyIndex(signed).candidates(signed, threads=1)
        return
    for method in ("brute", "blocks"):
        sosie.join(signed, radius=2, method=method, threads=1)
    sosie.FlatIndex(signed).search(signed, 2, threads=1)
    sosie.ProbeIndex(signed).within(signed, 2, threads=1)


def _verify(features):
    found = sosie.join(features, threshold=0.5, threads=1)
    sosie.verify(found, features, threshold=0.5, threads=1)
