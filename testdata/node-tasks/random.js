import { randomBytes } from 'node:crypto';

const CHARACTERS = '23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz'; // none that is easily mistaken

// randomId gives an id of the form that Meteor's have: 17 unmistakable characters.
export function randomId() {
  return Array.from(randomBytes(17), byte => CHARACTERS[byte % CHARACTERS.length]).join('');
}
