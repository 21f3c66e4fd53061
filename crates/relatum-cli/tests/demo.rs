//! `relatum demo`, whole.

mod support;

use support::Desk;

#[test]
fn the_demo_makes_a_project_and_answers() {
    let desk = Desk::new();
    let text = desk.ok(&["demo"]);
    assert!(text.contains("Which films star Martin Lawrence?"), "{text}");
    assert!(text.contains("Bad Boys (1995)") && text.contains("Psycho (1960)"), "{text}");
    assert!(text.contains("does not say has_genre(Bad Boys (1995), Thriller)"), "{text}");
    assert_eq!(desk.names(), ["relatum-demo"]);
    desk.ok(&["check", "relatum-demo"]);
    assert_eq!(desk.ok(&["demo"]), text, "a second run uses the folder again");
}

#[test]
fn the_demo_never_touches_a_folder_of_somebody_else() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path("mine")).unwrap();
    desk.put("mine/thesis.txt", "precious");
    let outcome = desk.run(&["demo", "mine"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("mine exists already"), "{}", outcome.stderr);
}
