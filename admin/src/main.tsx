import { render } from 'preact';
import { App } from './app.js';
import { applyTheme } from './lib/theme.js';
import './styles/index.css';

applyTheme();
render(<App />, document.getElementById('app')!);
