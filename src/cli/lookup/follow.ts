import type { Page } from '../../contract/index.js';
import type { Context } from '../context.js';
import { isTransient } from './wait.js';
import { pages, type ReadPage } from './list.js';
