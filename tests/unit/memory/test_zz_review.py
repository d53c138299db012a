import anyio, pytest, asyncio
from pegboard import Pegboard
from pegboard.core.refusals import Invalid, NotFound, Refusal
from pegboard.testing import NoSettings
from pegboard.core.call import Caller
pytest_plugins=[]
KEY="a-key-for-tests-0123456789"

@pytest.fixture
async def two(database_url, tmp_path):
    s=NoSettings(home=tmp_path/"home",admin_key=KEY,drain_seconds=2)
    async with Pegboard.open(database_url,settings=s) as a:
        yield a

async def test_two_writers(two):
    b=two; me=b.admin; t=await b.threads.create(me)
    async def w(x):
        for i in range(20): await b.threads.add(t.id,me,[{"role":"user","content":f"{x}-{i}"},{"role":"assistant","content":"k"}])
    await asyncio.gather(*[w(x) for x in range(5)])
    seen=[]; cur=None
    while True:
        p=await b.threads.messages(t.id,me,cursor=cur,limit=7); seen+=p.items; cur=p.next_cursor
        if not cur: break
    assert [m.position for m in seen]==list(range(200))
    for i in range(0,200,2): assert seen[i].role=="user" and seen[i+1].role=="assistant"

async def test_delete_while_writing(two):
    b=two; me=b.admin
    for _ in range(10):
        t=await b.threads.create(me); gone=0
        async def w():
            nonlocal gone
            for i in range(10):
                try: await b.threads.add(t.id,me,{"role":"user","content":"x"})
                except NotFound: gone+=1
        await asyncio.gather(w(),w(),b.threads.delete(t.id,me))
        with pytest.raises(NotFound): await b.threads.get(t.id,me)

async def test_answers_race(two):
    b=two; me=b.admin; t=await b.threads.create(me)
    await b.threads.add(t.id,me,{"role":"assistant","content":None,"tool_calls":[{"id":"c","name":"a","arguments":{}},{"id":"d","name":"a","arguments":{}}]})
    async def a(i,who="c"):
        try: await b.threads.add(t.id,me,{"role":"tool","tool_call_id":who,"content":str(i)}); return True
        except Invalid as e: return False
    r=await asyncio.gather(*[a(i) for i in range(8)],a(9,"d"))
    assert sum(r[:8])==1 and r[8], r
    m=(await b.threads.messages(t.id,me)).items[0]
    assert all("result" in c for c in m.tool_calls)

async def test_paging_while_adding(two):
    b=two; me=b.admin; t=await b.threads.create(me)
    await b.threads.add(t.id,me,[{"role":"user","content":str(i)} for i in range(30)])
    seen=[];cur=None
    for _ in range(10):
        p=await b.threads.messages(t.id,me,cursor=cur,limit=10); seen+=p.items
        await b.threads.add(t.id,me,[{"role":"user","content":"n"}]*3)
        if not p.next_cursor: break
        cur=p.next_cursor
    assert [m.position for m in seen]==list(range(len(seen))) and len(seen)>=30
    ts=[await b.threads.create(me) for _ in range(12)]
    s=[];cur=None
    while True:
        p=await b.threads.page(me,cursor=cur,limit=5); s+=[x.id for x in p.items]; cur=p.next_cursor
        await b.threads.add(ts[0].id,me,{"role":"user","content":"hi"})
        if not cur: break
    print(len(s),len(set(s)))

async def test_deep(two):
    b=two; me=b.admin; t=await b.threads.create(me)
    deep='{"a":'+"["*900+"]"*900+"}"
    msg={"role":"assistant","content":None,"tool_calls":[{"id":"d","type":"function","function":{"name":"math_eval","arguments":deep}}]}
    r=await b.run(msg,thread=t.id)
    print(r)
