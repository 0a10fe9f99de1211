import { describeGroup } from '../torture/describe-group.js';
import { terminal } from '../torture/terminal/rows.js';

describeGroup(terminal);
