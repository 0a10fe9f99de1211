import { smtp } from './carriers/smtp-rows.js';
import { describeGroup } from './describe-group.js';

describeGroup(smtp);
