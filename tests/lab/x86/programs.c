/* Programs whose loads and stores have many forms: lists, hash tables, strings, recursion.
 * usage: programs list|table|strings|tree */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *next, *left, *right;
  long value;
};

static unsigned long state = 12345;
static unsigned long draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static long run_list(void) {
  enum { kNodes = 4096 };
  struct node* nodes = calloc(kNodes, sizeof *nodes);
  for (long i = 0; i < kNodes; ++i) nodes[i].next = &nodes[(i * 1021 + 7) % kNodes];
  long sum = 0;
  for (int turn = 0; turn < 60; ++turn) {
    struct node* at = nodes;
    for (int i = 0; i < kNodes; ++i, at = at->next) sum += at->value++;
  }
  free(nodes);
  return sum;
}

static long run_table(void) {
  enum { kSlots = 1 << 14 };
  unsigned* keys = calloc(kSlots, sizeof *keys);
  unsigned short* counts = calloc(kSlots, sizeof *counts);
  for (int i = 0; i < 400000; ++i) {
    const unsigned key = (unsigned)(draw() % 9000) + 1;
    unsigned slot = key * 2654435761u % kSlots;
    while (keys[slot] != 0 && keys[slot] != key) slot = (slot + 1) % kSlots;
    keys[slot] = key;
    ++counts[slot];
  }
  long sum = 0;
  for (int i = 0; i < kSlots; ++i) sum += counts[i] * (long)i;
  free(keys);
  free(counts);
  return sum;
}

static long run_strings(void) {
  static char text[64][100];
  char line[300];
  long sum = 0;
  for (int i = 0; i < 6000; ++i) {
    char* to = text[draw() % 64];
    snprintf(to, 100, "%d:%lx %s", i, draw(), i % 3 ? "some" : "other words");
    memset(line, 'x', sizeof line);
    strcpy(line + i % 50, to);
    sum += (long)strlen(line) + (strchr(line, ':') != NULL) + memcmp(line, to, 8);
  }
  return sum;
}

static struct node* insert(struct node* tree, long value) {
  if (!tree) {
    tree = calloc(1, sizeof *tree);
    tree->value = value;
  } else if (value < tree->value) {
    tree->left = insert(tree->left, value);
  } else {
    tree->right = insert(tree->right, value);
  }
  return tree;
}
static long depth(const struct node* tree) {
  if (!tree) return 0;
  const long left = depth(tree->left), right = depth(tree->right);
  return 1 + (left > right ? left : right);
}
static long run_tree(void) {
  struct node* tree = NULL;
  for (int i = 0; i < 12000; ++i) tree = insert(tree, (long)(draw() >> 20));
  return depth(tree);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  long result;
  if (strcmp(name, "list") == 0) {
    result = run_list();
  } else if (strcmp(name, "table") == 0) {
    result = run_table();
  } else if (strcmp(name, "strings") == 0) {
    result = run_strings();
  } else if (strcmp(name, "tree") == 0) {
    result = run_tree();
  } else {
    fputs("usage: programs list|table|strings|tree\n", stderr);
    return 64;
  }
  printf("%ld\n", result);
  return 0;
}
