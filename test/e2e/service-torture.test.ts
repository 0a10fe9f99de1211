import { describeGroup } from '../torture/describe-group.js';
import { service } from '../torture/service/rows.js';

describeGroup(service);
