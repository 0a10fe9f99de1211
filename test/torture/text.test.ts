import { describeGroup } from './describe-group.js';
import { text } from './text/rows.js';

describeGroup(text);
