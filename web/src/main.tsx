import { render } from "preact";
import { App } from "./app";
import "./styles/main.css";

const page = document.getElementById("page");
if (page) render(<App />, page);
