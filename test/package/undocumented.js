// Prints, as JSON, the public declarations of the client's types and those of them that lack a comment.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** TypeScript 7 has no compiler API of this kind; the version that `@arethetypeswrong/core` brings has. */
const require = createRequire(createRequire(import.meta.url).resolve('@arethetypeswrong/core'));
const ts = require('typescript');
const root = resolve(import.meta.dirname, '../..');
const types = join(root, 'dist/client/index.d.cts');

/** The exports of the client, all types that they name, and their members. */
function publicDeclarations() {
  const program = ts.createProgram([types], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  const seen = new Set();
  const found = new Set();
  const add = (named) => {
    if (named === undefined) return;
    const symbol = named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named;
    if (seen.has(symbol)) return;
    seen.add(symbol);
    for (const declaration of symbol.declarations ?? []) {
      const isOurs = declaration.getSourceFile().fileName.startsWith(join(root, 'dist'));
      if (!isOurs || ts.isTypeParameterDeclaration(declaration) || ts.isParameter(declaration)) continue;
      found.add(declaration);
      for (const member of declaration.members ?? []) found.add(member);
      visit(declaration);
    }
  };
  const visit = (node) => {
    if (ts.isTypeQueryNode(node)) return;
    if (ts.isIdentifier(node)) add(checker.getSymbolAtLocation(node));
    ts.forEachChild(node, visit);
  };
  for (const symbol of checker.getExportsOfModule(
    checker.getSymbolAtLocation(program.getSourceFile(types)),
  )) {
    add(symbol);
  }
  return [...found].filter((declaration) => !nameOf(declaration).endsWith('#private'));
}

function nameOf(declaration) {
  const name = ts.getNameOfDeclaration(declaration)?.getText() ?? 'constructor';
  const owner = declaration.parent?.name?.getText();
  return owner === undefined ? name : `${owner}.${name}`;
}

/** The declaration, without a comment, and its parameters without one. */
function undocumented(declaration) {
  const commented = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const itself = ts.getJSDocCommentsAndTags(commented).length === 0 ? [nameOf(declaration)] : [];
  const signature = ts.isTypeAliasDeclaration(declaration) ? declaration.type : declaration;
  const parameters = ts.isFunctionLike(signature) ? signature.parameters : [];
  const documented = new Set(
    ts
      .getJSDocTags(commented)
      .filter((tag) => ts.isJSDocParameterTag(tag) && ts.getTextOfJSDocComment(tag.comment)?.trim())
      .map((tag) => tag.name.getText()),
  );
  const without = parameters.filter(({ name }) => !documented.has(name.getText()));
  return [...itself, ...without.map(({ name }) => `${nameOf(declaration)}(${name.getText()})`)];
}

const declarations = publicDeclarations();
const names = declarations.map(nameOf);
process.stdout.write(JSON.stringify({ names, undocumented: declarations.flatMap(undocumented) }));
