"""hostile concurrency on both kinds, put in a temporary test"""
from __future__ import annotations
import asyncio, random
import pytest
from pegboard.builtins.baseline.baseline import Baseline
from pegboard.core.call import Caller
from pegboard.core.ids import new_id
from pegboard.store import findings as store
from tests.unit.baseline.sightings import hashed, seen
ME=Caller(new_id(),"me")
@pytest.mark.parametrize("kinds",[["record"],["record","resolve"],["record","remove_all"],["record","resolve","remove_res"],["remove_all","record","resolve","remove_res","query"]])
async def test_storm(database, monkeypatch, kinds):
    monkeypatch.setattr(store,"CHUNK",50)
    b=Baseline(database); rnd=random.Random(5); errors=[]
    new=rec=rem=reop=res=0
    async def one(i):
        nonlocal new,rec,rem,reop,res
        kind=rnd.choice(kinds)
        some=rnd.sample(range(300),120)
        if kind=="record":
            r=await b.record([seen(n) for n in some],ME); assert r.recorded==r.new+r.recurring+r.reopened==120; new+=r.new
        elif kind=="resolve":
            r=await b.resolve(ME,composite_hashes=[hashed(n) for n in some]); assert sum(r)==120
        elif kind=="query":
            q=await b.query([str(n) for n in some],[hashed(n) for n in some],ME,batch_size=7); assert [x["finding_id"] for x in q]==[str(n) for n in some]
        elif kind=="remove_all": k=await b.remove_all(ME); rem+=k
        else: k=await b.remove_all(ME,status="resolved"); rem+=k
    out=await asyncio.gather(*(one(i) for i in range(60)),return_exceptions=True)
    bad=[o for o in out if isinstance(o,BaseException)]
    assert not bad,bad[:3]
    left=len(await b.page(ME,limit=1000))
    assert new-rem==left
