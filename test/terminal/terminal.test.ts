import { describeGroup } from '../torture/describe-group.js';
import { terminal } from './rows.js';

describeGroup(terminal);
