//! Panics, computations that reach their own context, and clones.

use super::*;

/// Builds `bomb -> c0 -> ... -> c29`. The bomb swallows the failure of its input, then panics while
/// armed.
fn bomb() -> (
    Context<f64>,
    Arc<AtomicBool>,
    Block<System>,
    Vec<Block<System>>,
) {
    let armed = Arc::new(AtomicBool::new(true));
    let fuse = armed.clone();
    let mut b = DiagramBuilder::new();
    let r = root(&mut b, "r");
    let bomb = add(&mut b, "bomb", move |ctx, u, _| {
        let input = ctx.eval(u[0]).map_or(-1.0, |u| u[0]);
        assert!(!fuse.load(Ordering::Relaxed), "boom");
        Ok(input)
    });
    let chain: Vec<_> = (0..30).map(|i| plus(&mut b, &format!("c{i}"))).collect();
    let all: Vec<_> = [&r, &bomb].into_iter().chain(&chain).collect();
    wire(&mut b, &all);
    let mut ctx = b.build().unwrap().default_context();
    ctx.fix(r.u[0], vec![-5.0]).unwrap();
    (ctx, armed, r, chain)
}

#[test]
fn a_panic_leaves_a_usable_context() {
    for mode in [CacheMode::On, CacheMode::Off, CacheMode::Verify] {
        let (mut ctx, armed, r, chain) = bomb();
        ctx.set_cache_mode(mode);
        for _ in 0..3 {
            let result = catch_unwind(AssertUnwindSafe(|| ctx.eval(chain[29].y).is_ok()));
            assert!(result.is_err());
        }
        armed.store(false, Ordering::Relaxed);
        assert_eq!(value(&ctx, &chain[29]), -1.0, "{mode:?}");
        ctx.fix(r.u[0], vec![5.0]).unwrap();
        assert_eq!(value(&ctx, &chain[29]), 5.0, "the failure is forgotten");
        assert_eq!(
            value(&ctx.clone(), &chain[29]),
            5.0,
            "nothing is being computed"
        );
        armed.store(true, Ordering::Relaxed);
        set(&mut ctx, &chain[0], 1.0);
        let result = catch_unwind(AssertUnwindSafe(|| ctx.eval(chain[29].y).is_ok()));
        assert_eq!(
            result.is_ok(),
            mode == CacheMode::On,
            "kept values are not computed"
        );
    }
}

thread_local! {
    /// Context that its own computations and clones can access.
    static SHARED: RefCell<Option<Shared>> = const { RefCell::new(None) };
}
type Shared = (Rc<Context<f64>>, OutputPort<Vec<f64>>);

fn shared() -> Shared {
    SHARED.with_borrow(Clone::clone).unwrap()
}

#[test]
fn a_computation_that_reads_its_own_result_is_an_error() {
    let mut b = DiagramBuilder::new();
    let a = add(&mut b, "a", |_, _, _| {
        let (ctx, own) = shared();
        Ok(ctx.eval(own)?[0])
    });
    let s = swallow(&mut b, "s");
    wire(&mut b, &[&a, &s]);
    let ctx = Rc::new(b.build().unwrap().default_context());
    SHARED.set(Some((ctx.clone(), a.y)));
    let message = ctx.eval(a.y).unwrap_err().to_string();
    assert_eq!(
        message,
        "computing 'a.y': the computation reads its own result; declare what it reads"
    );
    assert_eq!(value(&ctx, &s), -1.0, "the context is usable");
}

#[test]
fn a_context_is_not_cloned_by_its_own_computations() {
    let mut b = DiagramBuilder::new();
    let a = add(
        &mut b,
        "a",
        |_, _, _| Ok(Context::clone(&shared().0).time()),
    );
    let ctx = Rc::new(b.build().unwrap().default_context());
    SHARED.set(Some((ctx.clone(), a.y)));
    let result = catch_unwind(AssertUnwindSafe(|| ctx.eval(a.y).is_ok()));
    let message = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("cannot be cloned by its own"), "{message}");
}

#[test]
fn a_clone_keeps_values_and_is_independent() {
    let (d, g) = gains(3);
    let mut ctx = d.default_context();
    ctx.fix(g[0].u, vec![1.0]).unwrap();
    ctx.eval(g[2].y).unwrap();
    let mut fork = ctx.clone();
    assert_eq!(fork.eval(g[2].y).unwrap()[0], 1.0);
    assert_eq!(
        fork.cache_statistics().computations,
        0,
        "values were copied"
    );
    *fork.param_mut(g[0].k).unwrap() = 5.0;
    *ctx.param_mut(g[2].k).unwrap() = 7.0;
    assert_eq!(fork.eval(g[2].y).unwrap()[0], 5.0);
    assert_eq!(ctx.eval(g[2].y).unwrap()[0], 7.0);
    fork.set_cache_mode(CacheMode::Off);
    fork.eval(g[2].y).unwrap();
    let before = ctx.cache_statistics();
    ctx.eval(g[2].y).unwrap();
    assert_eq!(ctx.cache_statistics(), before, "still kept");
}
