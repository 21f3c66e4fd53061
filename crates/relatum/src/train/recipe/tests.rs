//! The search with objectives that cost nothing.

use proptest::prelude::*;

use super::*;

fn cost(settings: &Settings) -> TrialCost {
    let relation = if settings.relation_loss > 0.0 { 2.0 } else { 1.0 };
    TrialCost { epoch: settings.rank as f64 * relation, validation: 0.5 * settings.rank as f64 }
}

/// Runs a search to its end.
fn search(
    given: &GivenSettings,
    budget: f64,
    objective: impl Fn(&PlannedTrial) -> Option<f64>,
) -> (Vec<RecipeTrial>, Option<Recipe>) {
    let plain = given.resolve(Settings::default());
    let open = Open::of(given, &plain);
    let search = RecipeSearch { plain: &plain, open, budget, cost: &cost };
    let mut done = Vec::new();
    while let Some(planned) = search.next(&done) {
        let PlannedTrial { rung, recipe, settings, .. } = &planned;
        let (rank, epochs) = (settings.rank, settings.epochs);
        done.push(RecipeTrial { rung: *rung, rank, epochs, recipe: *recipe, mrr: objective(&planned) });
        assert!(done.len() < 100, "a search ends");
    }
    let winner = search.winner(&done);
    (done, winner)
}

/// How far a recipe is from the best one, in factors.
fn towards(best: Recipe) -> impl Fn(&PlannedTrial) -> Option<f64> {
    move |planned| {
        let near = |a: f32, b: f32| f64::from((a / b).ln().abs());
        let Recipe { regularizer_weight, learning_rate, batch_size, relation_loss } = planned.recipe;
        let far = near(regularizer_weight, best.regularizer_weight)
            + near(learning_rate, best.learning_rate)
            + near(batch_size as f32, best.batch_size as f32)
            // A short run decides against the relation loss, a long one for it.
            + 0.1 * f64::from((relation_loss - best.relation_loss).abs()) * (planned.settings.epochs as f64 / 10.0 - 1.0);
        Some((-far).exp())
    }
}

/// Enough for all recipes of every rung, and for longer runs than the shortest.
const AMPLE: f64 = 20_000.0;

#[test]
fn what_three_graphs_want_is_found() {
    for (regularizer_weight, learning_rate, batch_size, relation_loss) in
        [(0.05, 0.2, 1000, 4.0), (0.002, 0.1, 250, 0.5), (0.1, 0.1, 1000, 0.0)]
    {
        let best = Recipe { regularizer_weight, learning_rate, batch_size, relation_loss };
        let (trials, winner) = search(&GivenSettings::default(), AMPLE, towards(best));
        assert_eq!(winner, Some(best), "{trials:#?}");
    }
}

#[test]
fn rungs_become_fewer_and_the_relation_loss_is_decided_last_with_the_longest_runs() {
    let (trials, _) = search(&GivenSettings::default(), AMPLE, |_| Some(0.5));
    let rungs: Vec<&[RecipeTrial]> = trials.chunk_by(|a, b| a.rung == b.rung).collect();
    assert_eq!(rungs.iter().map(|rung| rung.len()).collect::<Vec<_>>(), [15, 5, 3]);
    assert!(rungs[0].iter().all(|trial| trial.rank == SMALL_RANK && trial.recipe.relation_loss == 0.0));
    assert!(rungs[1].iter().all(|trial| trial.rank == 100 && trial.recipe.relation_loss == 0.0));
    assert_eq!(rungs[2].iter().map(|trial| trial.recipe.relation_loss).collect::<Vec<_>>(), [0.0, 4.0, 0.5]);
    assert!(rungs[2][0].epochs > rungs[1][0].epochs);
    assert_eq!(
        trials[0].recipe,
        Recipe::of(&Settings::default()),
        "the plain settings take part, and come first"
    );
}

#[test]
fn a_trial_ends_cooled_and_is_validated_then_alone() {
    let plain = Settings { epochs: 40, candidates: Some(8192), patience: 4, ..Settings::default() };
    let open = Open::of(&GivenSettings::default(), &plain);
    let search = RecipeSearch { plain: &plain, open, budget: AMPLE, cost: &cost };
    let settings = search.next(&[]).unwrap().settings;
    assert!(settings.cool_down > 0 && settings.cool_down < settings.epochs);
    assert_eq!((settings.eval_every, settings.patience), (settings.epochs, 0));
    assert_eq!(settings.candidates, Some(CANDIDATES));
}

#[test]
fn a_small_budget_tries_fewer_recipes_and_none_tries_nothing() {
    let (some, _) = search(&GivenSettings::default(), 1500.0, |_| Some(0.1));
    assert!(some.iter().filter(|trial| trial.rung == 1).count() < 15);
    assert!(some.iter().all(|trial| trial.epochs >= FEWEST_EPOCHS));
    let (none, winner) = search(&GivenSettings::default(), 10.0, |_| Some(0.1));
    assert_eq!((none.len(), winner), (0, None));
}

#[test]
fn where_all_diverge_nothing_wins_and_where_the_last_do_the_rung_before_decides() {
    let (trials, winner) = search(&GivenSettings::default(), AMPLE, |_| None);
    assert_eq!((trials.len(), winner), (15, None));
    let plain = Recipe::of(&Settings::default());
    assert!(plain.reason(plain, &trials).contains("diverged"));
    let (trials, winner) =
        search(&GivenSettings::default(), AMPLE, |planned| (planned.rung < 3).then_some(0.3));
    assert_eq!(winner, Some(plain), "{trials:?}");
}

#[test]
fn a_reason_names_the_winner_the_next_and_the_plain_settings() {
    let trial = |rung, weight, mrr| {
        let recipe = Recipe { regularizer_weight: weight, ..Recipe::of(&Settings::default()) };
        RecipeTrial { rung, rank: 8, epochs: 4, recipe, mrr }
    };
    let trials = [
        trial(1, 0.05, Some(0.2)),
        trial(1, 0.01, Some(0.3)),
        trial(2, 0.01, Some(0.4)),
        trial(2, 0.02, None),
    ];
    let (plain, won) = (trials[0].recipe, trials[2].recipe);
    assert_eq!(
        won.reason(plain, &trials),
        "the best of rung 2, with a validation MRR of 0.4000; the plain settings had 0.2000 in rung 1, where the best had 0.3000"
    );
    assert!(plain.reason(plain, &trials[..1]).ends_with("these are the plain settings"));
}

#[test]
fn what_is_open_is_what_was_not_given_and_makes_a_difference() {
    let open = |given: &GivenSettings| Open::of(given, &given.resolve(Settings::default()));
    let all = open(&GivenSettings::default());
    assert!(all.any() && all.relation_loss);
    let transe = GivenSettings { predictor: Some("transe".to_owned()), ..GivenSettings::default() };
    assert!(!open(&transe).relation_loss && open(&transe).within(all) && !all.within(open(&transe)));
    let bare = GivenSettings { regularizer: Some(Regularizer::None), ..GivenSettings::default() };
    assert!(!open(&bare).regularizer_weight);
}

proptest! {
    #[test]
    fn a_search_is_deterministic_keeps_its_budget_and_what_was_given(
        seed in 0u64..1000,
        budget in 10.0..20_000.0f64,
        weight in proptest::option::of(0.0f32..1.0),
        rate in proptest::option::of(0.01f32..1.0),
        batch in proptest::option::of(1usize..2000),
        relation in proptest::option::of(0.0f32..5.0),
        rank in 1usize..300,
        epochs in 1usize..60,
    ) {
        let given = GivenSettings {
            regularizer_weight: weight,
            learning_rate: rate,
            batch_size: batch,
            relation_loss: relation,
            rank: Some(rank),
            epochs: Some(epochs),
            ..GivenSettings::default()
        };
        let objective = |planned: &PlannedTrial| {
            let key = seed ^ (planned.number as u64) << 8 ^ (planned.rung as u64) << 16;
            let drawn = crate::random::Rng::new(key).below(100);
            (drawn > 10).then(|| drawn as f64 / 100.0)
        };
        let (trials, winner) = search(&given, budget, objective);
        prop_assert_eq!(&(trials.clone(), winner), &search(&given, budget, objective));

        let mut work = 0.0;
        for RecipeTrial { rank, epochs: long, recipe, .. } in &trials {
            let settings = recipe.over(Settings { rank: *rank, ..Settings::default() });
            work += cost(&settings).epoch * *long as f64 + cost(&settings).validation;
            prop_assert!(*long <= epochs);
            prop_assert!(weight.is_none_or(|given| given.to_bits() == recipe.regularizer_weight.to_bits()));
            prop_assert!(rate.is_none_or(|given| given.to_bits() == recipe.learning_rate.to_bits()));
            prop_assert!(batch.is_none_or(|given| given == recipe.batch_size));
            prop_assert!(relation.is_none_or(|given| given.to_bits() == recipe.relation_loss.to_bits()));
        }
        prop_assert!(work <= budget * (1.0 + 1e-9), "{} of {}", work, budget);

        // The best of each rung leads the next, and the best of the last rung that came to an end wins.
        let rungs: Vec<&[RecipeTrial]> = trials.chunk_by(|a, b| a.rung == b.rung).collect();
        for pair in rungs.windows(2) {
            prop_assert_eq!(Some(pair[1][0].recipe), ranked(pair[0]).first().copied());
        }
        let best = rungs.iter().rev().find_map(|rung| {
            let ended = rung.iter().filter(|trial| trial.mrr.is_some());
            ended.rev().max_by(|a, b| a.mrr.unwrap().total_cmp(&b.mrr.unwrap())).map(|trial| trial.recipe)
        });
        prop_assert_eq!(winner, best);
    }
}
